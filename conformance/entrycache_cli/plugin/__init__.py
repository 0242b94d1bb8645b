"""The pytest plugin: a test for each rule and level."""

NODE_PREFIX = "entrycache::"
"""The beginning of the names of the subject's tests."""

EXCEPTION = "entrycache exception"
"""The name of the property of a test that says what the verdict does not cover."""
