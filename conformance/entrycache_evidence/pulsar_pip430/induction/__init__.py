"""Lemmas about `pulsar-pip430` that z3 proves."""
