"""Traces written by hand, planted with violations, and told as stories."""
