"""Replay of the traces of rings; `rings` puts the rules together."""
