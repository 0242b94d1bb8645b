"""Replay of the trace of stream threads, one row after the other; `threads` puts the rules together."""
