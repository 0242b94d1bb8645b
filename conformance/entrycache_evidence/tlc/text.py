"""Values as TLA+ writes them, and as TLC prints them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def tla(value: Any) -> str:
    """The text of a value. A sequence may hold anything, a mapping is a record; None is the empty sequence.

    Raises:
        TypeError: TLA+ has no such value here.
    """
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return f'"{value}"'
    if value is None:
        return "<<>>"
    if isinstance(value, tuple | list):
        return f"<<{', '.join(map(tla, value))}>>"
    if isinstance(value, frozenset):
        return f"{{{', '.join(sorted(map(tla, value)))}}}"
    if isinstance(value, Mapping):
        return f"[{', '.join(f'{name} |-> {tla(part)}' for name, part in value.items())}]"
    raise TypeError(f"{value!r} has no text in TLA+")


def maybe(value: Any) -> tuple[Any, ...]:
    """What may be missing: nothing, or one thing."""
    return () if value is None else (value,)


def texts(values: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Constants by name, as texts."""
    return tuple((name, tla(value)) for name, value in values.items())
