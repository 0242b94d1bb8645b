"""The exhibits of `toy`: planted faults of its fast cache."""

from __future__ import annotations

from typing import Final

from entrycache_fast.toy import ToySet


class OneTooMany(ToySet):
    """The limit is met one key late."""

    def put(self, key: str) -> bool:
        """Let in one more."""
        self.limit += 1
        try:
            return super().put(key)
        finally:
            self.limit -= 1


TOY: Final[dict[str, type[ToySet]]] = {"toy-one-too-many": OneTooMany}
"""By name; `cases` holds a case of the same name for each."""
