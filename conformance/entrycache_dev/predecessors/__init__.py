"""A study of Pulsar's caches: which promise of PIP-430 each of them keeps."""
