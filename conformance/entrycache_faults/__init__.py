"""Planted faults: of the fast cache (exhibits) and of the reference (mutants), each with its rule."""
