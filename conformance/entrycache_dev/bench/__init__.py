"""Benchmarks of our fast caches: medians of interleaved rounds, and ratios within one run."""
