"""The constants of a run of `toy`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from entrycache_reference.vocabulary import INTEGER_MAX, Span


@dataclass(frozen=True, slots=True)
class Variants:
    """No release differs."""


@dataclass(frozen=True, slots=True)
class Config:
    """The configuration that a run starts with."""

    limit: Annotated[int, Span(0, INTEGER_MAX)] = 2
    variants: Variants = Variants()
