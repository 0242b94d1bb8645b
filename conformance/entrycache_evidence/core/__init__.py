"""What the parts of the evidence share."""
