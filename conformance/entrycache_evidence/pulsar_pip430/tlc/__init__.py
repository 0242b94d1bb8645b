"""The removal queue of `pulsar-pip430` as a TLA+ module, beside the explorer's worlds."""
