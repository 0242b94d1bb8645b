"""Proofs by z3 about `pulsar-legacy`: its laws on any numbers, and how a size pass divides what it is to free."""
