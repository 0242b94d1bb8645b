"""A set of keys with a limit."""

from __future__ import annotations


class ToySet:
    """Keys, as many as the limit allows."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.keys: set[str] = set()

    def put(self, key: str) -> bool:
        """Whether the key is there now."""
        if key not in self.keys and len(self.keys) >= self.limit:
            return False
        self.keys.add(key)
        return True

    def has(self, key: str) -> bool:
        """Whether the key is there."""
        return key in self.keys
