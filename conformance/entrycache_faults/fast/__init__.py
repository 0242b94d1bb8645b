"""Planted faults of our fast caches, each in one small method; a folder a system."""
