"""How many states and transitions each world has, as committed: docs/worlds.json."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from entrycache_evidence.explore.parts import AnyWorld
from entrycache_evidence.explore.search import Exploration
from entrycache_evidence.in_docs import in_docs, read, write_anew

NAME: Final = "worlds.json"
ACCEPT: Final = "python -m entrycache_evidence.explore PROFILE"
"""What writes the counts anew, of the worlds of a profile."""


class Key(NamedTuple):
    """Which world it is; `within` None: to the end."""

    system: str
    world: str
    within: int | None


class Counts(NamedTuple):
    """What an exploration of it sees. `closed`: no step leads out of these states."""

    states: int
    transitions: int
    depth: int
    closed: bool


def key_of(world: AnyWorld) -> Key:
    """Which world it is."""
    return Key(world.parts().system.name, world.name, world.depth)


def counted(world: AnyWorld, seen: Exploration) -> tuple[Key, Counts]:
    """The counts of an exploration."""
    return key_of(world), Counts(seen.states, seen.transitions, seen.depth, seen.closed)


def path() -> Path | None:
    """The committed counts, in a source checkout."""
    return in_docs(NAME)


def committed() -> dict[Key, Counts]:
    """The committed counts; none outside of a source checkout."""
    held = read(path())
    return {
        Key(*(line[name] for name in Key._fields)): Counts(*(line[name] for name in Counts._fields))
        for line in (() if held is None else held["worlds"])
    }


def differences(looked: Iterable[tuple[AnyWorld, Exploration]], held: Mapping[Key, Counts]) -> list[str]:
    """A line for each of these worlds that has other counts than are held, with how to accept them."""
    return [
        f"the world {key.world!r} of {key.system}: {told(now)} now, {told(held[key])}, in worlds.json; "
        f"if that is meant: {ACCEPT}"
        for key, now in (counted(*one) for one in looked)
        if key in held and held[key] != now
    ]


def told(counts: Counts) -> str:
    """Counts in words."""
    reach = "closed" if counts.closed else f"within {counts.depth} steps"
    return f"{counts.states} states and {counts.transitions} transitions, {reach}"


def dumps(held: Mapping[Key, Counts]) -> str:
    """The text of the file, a line a world."""
    lines: list[dict[str, Any]] = [{**key._asdict(), **counts._asdict()} for key, counts in held.items()]
    return '{\n "schema": 1,\n "worlds": [\n  ' + ",\n  ".join(map(json.dumps, lines)) + "\n ]\n}\n"


def write(held: Mapping[Key, Counts]) -> None:
    """Write docs/worlds.json of this checkout.

    Raises:
        FileNotFoundError: this is not a source checkout.
    """
    write_anew(NAME, path(), dumps(held))
