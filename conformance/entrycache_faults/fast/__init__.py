"""Seeded faults that only an implementation can have: of our fast caches, a module for each system."""
