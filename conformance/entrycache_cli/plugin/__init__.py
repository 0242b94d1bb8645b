"""The pytest plugin: a test a rule and level."""
