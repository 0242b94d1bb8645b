"""What a subject of this system cannot take, and how much a case of it may cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from entrycache_protocol.declaration import Declaration
from entrycache_protocol.limits import Limits
from entrycache_reference.pulsar_segmented.config import Config, segments_of

__all__ = ["Limits", "effort", "unfit"]


def effort(config: Config, steps: Sequence[Any]) -> int:
    """How many entries the reference looks at, most: each step asks every segment, and each entry of it."""
    return (1 + len(steps)) * (segments_of(config) + len(steps))


def unfit(declaration: Declaration, config: Config, steps: Sequence[Any]) -> str:
    """Every case can be asked."""
    return ""
