"""The mutation matrix: small changes of the reference, and the detectors that detect each of them."""
