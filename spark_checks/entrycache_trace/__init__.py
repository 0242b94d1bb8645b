"""Traces: their schema and files, how they are recorded, made up, converted and looked at."""
