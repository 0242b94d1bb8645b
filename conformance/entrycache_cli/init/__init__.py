"""Adapters to begin with: a naive cache that conforms at level `range`, in each of five languages."""
