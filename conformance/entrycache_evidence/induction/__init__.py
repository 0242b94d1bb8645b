"""Proofs by z3 over queues of any length, with the decision built from the table and the reference's functions."""
