"""Parts that all kinds of evidence share: results, processes, stress runs and rule texts."""
