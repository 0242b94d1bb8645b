"""What the tiers need of an SQL engine. SQL is written for Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol


class SqlEngine(Protocol):
    """An engine in which the view `trace` stands for the rows of the trace, `broker` first."""

    def define(self, name: str, query: str) -> None:
        """Give a query a name."""

    def table(self, name: str, columns: Mapping[str, str], rows: Sequence[tuple[Any, ...]]) -> None:
        """Give a few rows a name; columns map to SQL types."""

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a query."""

    def close(self) -> None:
        """Free what was taken."""
