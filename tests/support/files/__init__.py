"""Broken files, made from valid ones by seed, and the commands that read them."""
