"""Vectors: cases with the reference's outcomes as files, for implementations that play them without our code."""
