"""Replay of the traces of `pulsar-legacy`; `brokers` puts the rules together."""
