"""Campaigns: seeded bulk runs of several subjects next to the reference, and the records of them."""
