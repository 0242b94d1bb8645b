"""The small worlds of `pulsar-pip430`."""
