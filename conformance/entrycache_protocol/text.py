"""How people read a step and an answer: JSON on one line."""

from __future__ import annotations

import json
from typing import Any

from entrycache_protocol.codec import encode_op


def compact(value: Any) -> str:
    """JSON on one line."""
    return json.dumps(value, separators=(", ", ": "))


def arguments(op: Any) -> str:
    """The arguments of a step as people write them."""
    value = encode_op(op)
    del value["op"]
    return "  ".join(f"{name}={json.dumps(part)}" for name, part in value.items())
