"""Proofs by z3 over queues of any length, built from the decision table and the reference's own functions."""
