"""Contracts that CrossHair checks over all paths, one a file; each names the rules that it broke."""
