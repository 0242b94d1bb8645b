"""Implementations under test behind one interface: child processes, Python classes, and wrappers of both."""
