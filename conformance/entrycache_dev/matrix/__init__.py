"""The mutation matrix: small changes of the reference, and which detector sees each of them."""
