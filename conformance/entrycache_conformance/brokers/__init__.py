"""Real brokers on this machine, recorded while real clients drive them."""
