"""Contracts that CrossHair checks over all paths, one in a module; each returns the rules that it finds broken."""
