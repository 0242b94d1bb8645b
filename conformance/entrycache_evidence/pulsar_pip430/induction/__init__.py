"""What is proved of `pulsar-pip430` with z3."""
