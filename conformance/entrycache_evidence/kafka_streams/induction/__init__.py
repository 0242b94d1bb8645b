"""What is proved of `kafka-streams` with z3."""
