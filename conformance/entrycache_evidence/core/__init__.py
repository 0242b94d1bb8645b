"""What all kinds of evidence share: results, work in several processes, stress runs, and the texts of the rules."""
