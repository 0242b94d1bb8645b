"""Convert JSON values to Java text, for the Java test of a case."""

import json
from collections.abc import Mapping
from typing import Any


def to_literal(value: Any) -> str:
    """Return a JSON value as a Java expression over ``map`` and ``list``."""
    if isinstance(value, Mapping):
        return f"map({', '.join(f'{to_string(key)}, {to_literal(part)}' for key, part in value.items())})"
    if isinstance(value, list | tuple):
        return f"list({', '.join(to_literal(part) for part in value)})"
    if isinstance(value, str):
        return to_string(value)
    return "null" if value is None else to_number(value)


def to_number(value: bool | int | float) -> str:
    """Return a number or a truth value as Java text; integers are longs."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value}L" if isinstance(value, int) else repr(value)


def to_string(text: str) -> str:
    """Return a Java string literal. Once everything but ASCII is escaped, JSON and Java have the same escapes."""
    return json.dumps(text)


def to_comment(text: str) -> str:
    """Return one line that cannot end the comment: Java reads unicode escapes there too."""
    return " ".join(text.replace("\\", "/").replace("*/", "* /").split())


def method_name(op: str) -> str:
    """Return the Java method of an operation: ``put_all`` becomes ``putAll``."""
    first, *words = op.split("_")
    return first + "".join(word.title() for word in words)


def without_messages(outcome: Mapping[str, Any]) -> dict[str, Any]:
    """Return an outcome without the message of an error, which is not compared, also inside lists of outcomes."""
    return {key: _without_messages_in(part) for key, part in outcome.items() if key != "message"}


def _without_messages_in(value: Any) -> Any:
    if not isinstance(value, list | tuple):
        return value
    return [without_messages(part) if isinstance(part, Mapping) else _without_messages_in(part) for part in value]
