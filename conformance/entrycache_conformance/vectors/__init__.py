"""Vectors: files of cases with the reference's outcomes, for implementations that play them without our code."""
