"""Replay of the trace of a ring, one row after the other; `rings` puts the rules together."""
