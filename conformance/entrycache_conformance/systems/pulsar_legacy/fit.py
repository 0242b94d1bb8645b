"""What keeps a case from a subject, beside operations that it does not offer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from entrycache_protocol.declaration import Declaration
from entrycache_reference.pulsar_legacy.config import Config


def unfit(declaration: Declaration, config: Config, steps: Sequence[Any]) -> str:
    """Why the case cannot be asked of the subject; empty where it can, as it can here always."""
    return ""
