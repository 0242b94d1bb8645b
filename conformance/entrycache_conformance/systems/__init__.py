"""The systems that are built, a folder each."""
