"""Inputs for the tests of the evidence."""
