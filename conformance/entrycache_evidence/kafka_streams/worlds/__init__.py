"""The small worlds of `kafka-streams`."""
