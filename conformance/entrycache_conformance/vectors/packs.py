"""The packs of vectors: which there are, and the cases that each is made of, by seed alone."""

from __future__ import annotations

import dataclasses
import json
import random
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

from entrycache_conformance.generate import make_case
from entrycache_conformance.judge import Coverage
from entrycache_conformance.subjects.reference import reference
from entrycache_conformance.systems import system_named
from entrycache_protocol.case import config_to_json, to_json
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.draw import even
from entrycache_protocol.errors import UsageError
from entrycache_reference import kafka_streams, pulsar_legacy, pulsar_pip430, pulsar_segmented


class Pack(NamedTuple):
    """So many cases of one level of a system; `config`: the settings that they vary, None: all that show there."""

    system: str
    level: str
    cases: int
    config: frozenset[str] | None = None

    @property
    def name(self) -> str:
        """What its file is called."""
        return f"{self.system}-{self.level}"


_QUEUE: Final = frozenset({"max_size_bytes", "ttl_nanos", "max_requeues", "extend_recently_accessed"})

PACKS: Final = (
    Pack(pulsar_pip430.NAME, "range", 4_000, frozenset({"max_size_bytes"})),
    Pack(pulsar_pip430.NAME, "queue", 8_000, _QUEUE),
    Pack(pulsar_pip430.NAME, "manager", 8_000, _QUEUE | {"watermark", "eviction"}),
    Pack(pulsar_pip430.NAME, "reads", 5_000, _QUEUE | {"watermark", "eviction", "storage_entry_size"}),
    Pack(pulsar_pip430.NAME, "cursors", 5_000),
    Pack(kafka_streams.NAME, "cache", 8_000),
    Pack(kafka_streams.NAME, "store", 4_000),
    Pack(pulsar_legacy.NAME, "all", 5_000),
    Pack(pulsar_segmented.NAME, "all", 3_000),
)
"""All of them: 50,000 cases."""

SMALL: Final = "small"
"""The pack that stands in the repository and in the wheel: the first cases of every other one."""

SMALL_ONE_IN: Final = 50
"""One case of so many is in it."""

NAMES: Final = (SMALL, *(pack.name for pack in PACKS))


class Made(NamedTuple):
    """A vector: the line of its file, the number of its steps, and what the reference met in it."""

    line: str
    steps: int
    met: Coverage


def pack_lines(name: str, seed: int) -> Iterator[Made]:
    """The vectors of a pack, in order. The reference is held to its laws at every step of them.

    Raises:
        UsageError: there is no pack of that name.
    """
    if name == SMALL:
        for pack in PACKS:
            yield from islice(_vectors(pack, seed), pack.cases // SMALL_ONE_IN)
        return
    found = next((pack for pack in PACKS if pack.name == name), None)
    if found is None:
        raise UsageError(f"there is no pack {name!r}; expected one of: {', '.join(NAMES)}")
    yield from _vectors(found, seed)


def cases_of(name: str) -> int:
    """How many cases a pack has."""
    if name == SMALL:
        return sum(pack.cases // SMALL_ONE_IN for pack in PACKS)
    return next(pack.cases for pack in PACKS if pack.name == name)


def _vectors(pack: Pack, seed: int) -> Iterator[Made]:
    declaration = declared(pack)
    system = declaration.system
    menu = system.cases.menu(system.ops_up_to(pack.level), pack.level)
    for number in range(pack.cases):
        yield _vector(declaration, menu, f"{pack.name} {number}, seed {seed}")


def declared(pack: Pack) -> Declaration:
    """What the cases of a pack may ask for: the whole norm of its level, without payload."""
    whole = reference(system_named(pack.system)).declaration
    return dataclasses.replace(whole, config=pack.config, payload=False)


def usual_settings() -> dict[str, dict[str, Any]]:
    """Of each pack, by name, the settings that its cases vary, with the value that each has where nobody sets it.

    Who cannot be told one of them leaves out the cases that have another value there.
    """
    told = {}
    for pack in PACKS:
        declaration = declared(pack)
        usual = config_to_json(declaration.system, declaration.base_config())
        told[pack.name] = {name: value for name, value in usual.items() if declaration.varies(name)}
    return told


def _vector(declaration: Declaration, menu: Sequence[str], called: str) -> Made:
    draw = even(random.Random(f"vectors: {called}"))
    while True:  # a case may end before its first step
        met = Coverage()
        made = make_case(draw, declaration, menu, met)
        if made.steps:
            break
    write: Callable[[Any], Any] = declaration.system.wire.write_outcome
    outcomes = tuple(write(done.outcome) for done in made.steps)
    case = dataclasses.replace(made.case, outcomes=outcomes, note=called)
    return Made(json.dumps(to_json(case), separators=(",", ":")), len(made.steps), met)
