"""Planted faults: of the references and of our fast caches, each in one place with its rule and its sentence."""
