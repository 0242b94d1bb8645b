"""A cache that takes two places, names or numbers for one is seen by the boundary cases of every run."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Final

import pytest

from entrycache_conformance.judge import Coverage
from entrycache_conformance.levels import PROFILES
from entrycache_conformance.search import find_failure, profile_case_count
from entrycache_conformance.systems import SYSTEMS
from entrycache_conformance.systems.reference import reference_offer
from entrycache_protocol.subject import InProcessSubject
from entrycache_reference.vocabulary import ABSENT, Position

PULSARS: Final = (("pulsar-pip430", "range"), ("pulsar-legacy", "all"), ("pulsar-segmented", "all"))


class Merged:
    """The reference behind a table of keys: of two places with one key, the later one becomes the earlier one."""

    system = ""
    key: Callable[[str, Position], Any]

    def __init__(self, config: Any) -> None:
        self.model = SYSTEMS[self.system].model
        self.config, self.state = config, self.model.initial(config)
        self.places: dict[Any, tuple[str, Any]] = {}

    def __call__(self, op: Any) -> Any:
        done = self.model.step(self.state, self.translate(op), self.config)
        self.state = done.state
        return self.answer(done.outcome)

    def translate(self, op: Any) -> Any:
        pos = getattr(op, "pos", None)
        if not isinstance(pos, Position) or pos.entry < 0:
            return op
        cache, pos = self.places.setdefault(type(self).key(op.cache, pos), (op.cache, pos))
        return dataclasses.replace(op, cache=cache, pos=pos)

    def answer(self, outcome: Any) -> Any:
        return outcome


class MergedKeys(Merged):
    """Name and key are joined with this separator."""

    separator = ""

    def translate(self, op: Any) -> Any:
        for name in ("ns", "store"):
            space, key = getattr(op, name, None), getattr(op, "key", None)
            if isinstance(space, str) and isinstance(key, str):
                joined = self.places.setdefault((name, space + self.separator + key), (space, key))
                op = dataclasses.replace(op, **{name: joined[0], "key": joined[1]})
        return op


class Changed(Merged):
    """Each argument or setting of this name is changed on its way to the reference."""

    name = ""
    change: Callable[[Any], Any]

    def __init__(self, config: Any) -> None:
        super().__init__(self.changed(config))

    def translate(self, op: Any) -> Any:
        return self.changed(op)

    def changed(self, holder: Any) -> Any:
        value = getattr(holder, self.name, None)
        if value is None or value is ABSENT:
            return holder
        return dataclasses.replace(holder, **{self.name: type(self).change(value)})


def shorten(bits: int) -> Callable[[Any], Any]:
    """Return a function that keeps the lower bits of a number, or of the parts of a position."""

    def change(value: Any) -> Any:
        if isinstance(value, Position):
            return Position(*(part if part < 0 else part % 2**bits for part in value))
        return value if value < 0 else value % 2**bits

    return change


def wrap_32_bits(number: int) -> int:
    return (number + 2**31) % 2**32 - 2**31


class ShortSums(Merged):
    """The bytes of all entries together have 32 bits."""

    def translate(self, op: Any) -> Any:
        return op

    def answer(self, outcome: Any) -> Any:
        total = getattr(outcome, "bytes", None)
        return dataclasses.replace(outcome, bytes=wrap_32_bits(total)) if isinstance(total, int) else outcome


KEYS: Final[dict[str, Callable[[str, Position], Any]]] = {
    "ledger * 1000 + entry": lambda cache, pos: (cache, pos.ledger * 1_000 + pos.entry),
    "ledger * 10000 + entry": lambda cache, pos: (cache, pos.ledger * 10_000 + pos.entry),
    "ledger * 31 + entry": lambda cache, pos: (cache, pos.ledger * 31 + pos.entry),
    "ledger << 16 + entry": lambda cache, pos: (cache, pos.ledger * 2**16 + pos.entry),
    "ledger << 32 + entry": lambda cache, pos: (cache, pos.ledger * 2**32 + pos.entry),
    "entry in 16 bits": lambda cache, pos: (cache, pos.ledger, pos.entry % 2**16),
    "entry in 32 bits": lambda cache, pos: (cache, pos.ledger, pos.entry % 2**32),
    "ledger and entry as text": lambda cache, pos: (cache, f"{pos.ledger}{pos.entry}"),
    "cache and ledger as text": lambda cache, pos: (f"{cache}{pos.ledger}", pos.entry),
}
QUICK: Final = {("ledger * 1000 + entry", name) for name, _ in PULSARS} | {("entry in 32 bits", "pulsar-pip430")}


def is_seen(kind: type[Merged], system: str, level: str, seed: int, **parts: Any) -> bool:
    """Return whether the boundary cases of one level of a run at profile dev find a failure."""
    cases = SYSTEMS[system].cases
    opened = type("Opened", (kind,), {"system": system, **parts})
    subject = InProcessSubject(kind.__name__, SYSTEMS[system], opened, reference_offer(SYSTEMS[system]))
    workload, one_to = next(item for item in cases.extra_workloads.items() if item[0].value == "odd")
    examples = profile_case_count(PROFILES["dev"].examples, one_to)
    menu = cases.menu(SYSTEMS[system].ops_up_to(level), level)
    return find_failure(subject, menu, examples, seed, Coverage(), workload=workload).failure is not None


@pytest.mark.parametrize(
    ("system", "level", "key"),
    [
        pytest.param(*place, key, marks=() if (key, place[0]) in QUICK else pytest.mark.long)
        for place in PULSARS
        for key in KEYS
    ],
)
def test_positions_that_become_one_are_seen(system: str, level: str, key: str) -> None:
    assert is_seen(Merged, system, level, 0, key=KEYS[key])


@pytest.mark.parametrize(("system", "level"), PULSARS)
def test_sums_of_32_bits_are_seen(system: str, level: str) -> None:
    assert is_seen(ShortSums, system, level, 0)


@pytest.mark.parametrize("separator", ["", pytest.param(":", marks=pytest.mark.long)])
def test_keys_that_become_one_with_their_namespace_are_seen(separator: str) -> None:
    assert is_seen(MergedKeys, "kafka-streams", "cache", 0, separator=separator)


NUMBERS: Final = (
    ("pulsar-pip430", "queue", "ttl_nanos", 32),
    ("pulsar-pip430", "manager", "max_requeues", 8),
    ("pulsar-pip430", "queue", "expected_reads", 8),
    ("pulsar-pip430", "reads", "storage_entry_size", 8),
    ("pulsar-pip430", "cursors", "grace_millis", 8),
    ("pulsar-pip430", "ledger", "pos", 16),
    ("pulsar-pip430", "ledger", "size", 16),
    ("pulsar-pip430", "limits", "permits", 32),
    ("pulsar-pip430", "limits", "max_reads_in_flight_bytes", 32),
    ("pulsar-pip430", "limits", "acquire_timeout_millis", 16),
    ("pulsar-pip430", "pending", "first", 16),
    ("pulsar-legacy", "all", "ttl_nanos", 32),
    ("kafka-streams", "cache", "timestamp", 32),
    ("kafka-streams", "cache", "offset", 16),
)
NAMES: Final = (
    ("pulsar-pip430", "cursors", "cursor"),
    ("pulsar-pip430", "ledger", "cursor"),
    ("pulsar-pip430", "ledger", "cache"),
    ("pulsar-pip430", "reads", "hold"),
    ("pulsar-pip430", "limits", "id"),
    ("pulsar-pip430", "pending", "read"),
)


@pytest.mark.long
@pytest.mark.parametrize(("system", "level", "name", "bits"), NUMBERS)
def test_numbers_of_fewer_bits_are_seen(system: str, level: str, name: str, bits: int) -> None:
    assert is_seen(Changed, system, level, 0, name=name, change=shorten(bits))


@pytest.mark.long
@pytest.mark.parametrize(("system", "level", "name"), NAMES)
def test_names_without_case_are_seen(system: str, level: str, name: str) -> None:
    assert is_seen(Changed, system, level, 0, name=name, change=lambda text: text.lower())


@pytest.mark.parametrize(
    ("system", "level", "name", "change"),
    [
        ("pulsar-pip430", "queue", "ttl_nanos", shorten(32)),
        ("pulsar-pip430", "cursors", "cursor", str.lower),
        ("pulsar-pip430", "limits", "permits", shorten(32)),
    ],
)
def test_short_numbers_and_folded_names_are_seen(
    system: str, level: str, name: str, change: Callable[[Any], Any]
) -> None:
    assert is_seen(Changed, system, level, 0, name=name, change=change)


def test_headers_of_one_name_each_are_seen() -> None:
    assert is_seen(
        Changed, "kafka-streams", "cache", 0, name="headers", change=lambda all_of: tuple(dict(all_of).items())
    )
