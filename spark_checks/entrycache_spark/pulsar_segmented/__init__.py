"""Audit of `pulsar-segmented`: its rules, and the replay of its traces."""
