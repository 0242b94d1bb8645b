"""The fast caches beside the reference."""
