"""What the suite knows of the system `pulsar-pip430` beside its reference: how to make cases, and how to explain."""
