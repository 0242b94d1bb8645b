"""Replay of the traces of `pulsar-pip430`; `brokers` puts the rules together."""
