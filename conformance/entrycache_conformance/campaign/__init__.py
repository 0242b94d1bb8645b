"""Campaigns: seeded bulk runs of several subjects beside the reference, and what of them is kept."""
