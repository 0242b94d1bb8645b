"""Seeded faults: of the references, and those of our fast caches that only an implementation can have."""
