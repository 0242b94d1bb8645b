"""How a result was made, as every report tells it: of `conform`, `audit` and `prove`, and of a broken subject."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

KEYS: Final = ("system", "source", "trace", "seed", "profile", "engine", "seconds")
"""Keys of a result, in the order in which they are told."""


class Made(NamedTuple):
    """What of it is told, and the versions that it rests on."""

    keys: Mapping[str, str]
    versions: Mapping[str, str]


def made_of(result: Mapping[str, Any]) -> Made:
    """How a result was made, as far as it says."""
    told = {name: str(result[name]) for name in KEYS if type(result.get(name)) in (str, int, float)}
    return Made(told, result.get("versions", {}))


def in_words(made: Made, left_out: Iterable[str] = ()) -> list[str]:
    """The same, each as a name and a text."""
    return [f"{name} {text}" for part in made for name, text in part.items() if name not in left_out]
