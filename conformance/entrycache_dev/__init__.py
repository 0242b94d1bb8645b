"""Entrycache dev."""
