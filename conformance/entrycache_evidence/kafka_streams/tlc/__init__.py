"""The thread cache of `kafka-streams` as a TLA+ module, beside the explorer's worlds."""
