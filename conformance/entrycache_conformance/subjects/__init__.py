"""Implementations under test: the reference, our own caches, released jars, and any command."""
