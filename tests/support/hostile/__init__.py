"""Subjects that misbehave."""
