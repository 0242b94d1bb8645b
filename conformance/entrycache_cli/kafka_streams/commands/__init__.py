"""Commands about the record cache of a client."""
