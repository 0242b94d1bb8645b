"""Replay of a broker's trace, one row after the other; `brokers` puts the rules together."""
