"""The tests: a folder a package, and what several files share in `support`."""
