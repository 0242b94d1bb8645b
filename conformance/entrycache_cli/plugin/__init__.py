"""The pytest plugin: a test for each rule and level."""
