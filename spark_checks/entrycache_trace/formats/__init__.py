"""The rows of each system's traces: their events, the meaning of their columns, and their recorder."""
