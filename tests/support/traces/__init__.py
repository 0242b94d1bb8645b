"""Traces for audits: written by hand, with seeded violations, and as audit scenarios with negative controls."""
