"""Proofs by z3 about `pulsar-segmented`: its laws on entries of any size, in rings of two and three segments."""
