"""Seeded faults of the references: each is a decorated function with its rule, its place and its sentence."""
