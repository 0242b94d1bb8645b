"""The constants of a run of `kafka-streams`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from entrycache_reference.vocabulary import INTEGER_MAX, Span

Size = Annotated[int, Span(0, INTEGER_MAX)]
CALLS_MAX = 64


@dataclass(frozen=True, slots=True)
class Variants:
    """Readings that differ between releases; the defaults are the promise of the protocol."""


@dataclass(frozen=True, slots=True)
class Config:
    """The configuration that a run starts with.

    `reentry_budget` is the number of calls of listeners in one step that perform their steps; later ones
    are recorded and return.
    """

    max_size_bytes: Size = 10_485_760
    reentry_budget: Annotated[int, Span(0, CALLS_MAX)] = 8
    variants: Variants = Variants()
