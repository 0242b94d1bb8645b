"""Seeded workloads of each system, and the generator that records them as traces."""
