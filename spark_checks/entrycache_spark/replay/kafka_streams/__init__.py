"""Replay of the traces of stream threads; `threads` puts the rules together."""
