"""JSON values as Java text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def to_literal(value: Any) -> str:
    """A JSON value as a Java expression over ``map`` and ``list``."""
    if isinstance(value, Mapping):
        return f"map({', '.join(f'{to_string(key)}, {to_literal(part)}' for key, part in value.items())})"
    if isinstance(value, list | tuple):
        return f"list({', '.join(to_literal(part) for part in value)})"
    if isinstance(value, str):
        return to_string(value)
    return "null" if value is None else to_number(value)


def to_number(value: bool | int | float) -> str:
    """A number or a truth value; integers are longs."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value}L" if isinstance(value, int) else repr(value)


def to_string(text: str) -> str:
    """JSON escapes what Java escapes, in the same way, once everything but ASCII is escaped."""
    return json.dumps(text)


def to_comment(text: str) -> str:
    """One line that cannot end the comment: Java reads unicode escapes there too."""
    return " ".join(text.replace("\\", "/").replace("*/", "* /").split())


def method_name(op: str) -> str:
    """The Java method of an op: ``put_all`` is ``putAll``."""
    first, *words = op.split("_")
    return first + "".join(word.title() for word in words)


def without_messages(outcome: Mapping[str, Any]) -> dict[str, Any]:
    """An outcome less the message of an error, which is not compared; those in lists of outcomes too."""
    return {key: _without_messages_in(part) for key, part in outcome.items() if key != "message"}


def _without_messages_in(value: Any) -> Any:
    if not isinstance(value, list | tuple):
        return value
    return [without_messages(part) if isinstance(part, Mapping) else _without_messages_in(part) for part in value]
