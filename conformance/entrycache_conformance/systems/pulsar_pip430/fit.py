"""What keeps a case from a subject, beside operations that it does not offer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from entrycache_protocol.declaration import Declaration
from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.pulsar_pip430.ops import OPS

BELOW: Final = frozenset(op.name for op in OPS if op.level in {"range", "queue"})
"""The operations of the levels at which no insert crosses the trigger."""


def unfit(declaration: Declaration, config: Config, steps: Sequence[Any]) -> str:
    """Why the case cannot be asked of the subject; empty where it can."""
    trigger = int(config.max_size_bytes * 0.98)
    inserted = sum(max(0, step.size) for step in steps if step.name == "insert")
    if config.max_size_bytes and inserted > trigger and not declaration.ops - BELOW:
        return (
            f"the case inserts {inserted} bytes, above the trigger of {trigger}: it is one of level manager, of which "
            "the subject offers no operation; expected max_size_bytes 0, or a trigger not below the sizes inserted"
        )
    nulls = [index for index, op in enumerate(steps) if getattr(op, "pos", op) is None]
    if nulls and not declaration.limits.null_positions and "limits.null_positions" not in declaration.findings:
        return f"the subject takes no null positions, and step {nulls[0]} of the case has one"
    return ""
