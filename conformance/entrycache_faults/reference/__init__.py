"""Planted faults of the references: each one a decorated function, with its rule, its place and its sentence."""
