"""What the tiers need of an SQL engine. SQL is written for Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

from entrycache_trace.files import Part

KEPT_ROWS: Final = 500_000
KEPT_BYTES: Final = 256 << 20


def is_small(parts: Sequence[Part]) -> bool:
    """Whether a trace is read once and kept in memory; of a larger one each query reads the columns that it needs."""
    return sum(part.rows for part in parts) <= KEPT_ROWS and sum(part.data_bytes for part in parts) <= KEPT_BYTES


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
