"""A real broker on this machine, recorded while real clients drive it."""
