"""What a difference says of itself where no law and no faulty reference does: inside a call, and of sizes."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from entrycache_conformance.judge import Coverage, judge, trajectory
from entrycache_protocol.case import Case
from entrycache_protocol.subject import Played, UnderTest
from entrycache_reference.kafka_streams.ops import Listen, OnForward, Put, PutAll, PutIfAbsent, Usage
from entrycache_reference.kafka_streams.outcomes import Failed
from entrycache_reference.kafka_streams.size import size_bytes
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT

WRITES_MOST: Final = 16
"""Writes of a case that are measured alone."""

FIELDS: Final = tuple(field.name for field in dataclasses.fields(Put))

THREAD_RULES: Final = {"puts": Rule.K_PUT_1, "gets": Rule.K_GET_3, "evicts": Rule.K_EVICT_6, "flushes": Rule.K_FLUSH_6}
"""The rule of each counter of the thread."""

SPACE_RULES: Final = {"misses": Rule.K_GET_2, "overwrites": Rule.K_PUT_2}
"""The rules of those counters of a namespace that one rule alone changes."""

READ_RULES: Final = {
    "store_get": Rule.K_STORE_1,
    "store_delete": Rule.K_STORE_7,
    "store_range": Rule.K_STORE_8,
    "store_all": Rule.K_STORE_8,
    "store_inner": Rule.K_STORE_2,
}
"""The rules of reads, wherever they are made."""

LISTINGS: Final = frozenset({"range", "reverse_range", "all", "reverse_all"})
"""Lookups in the cache itself: what they miss inside a call the call may have taken, but not tombstones alone."""


def inner_rule(case: Case, at: int, expected: Mapping[str, Any], got: Mapping[str, Any]) -> Rule | None:
    """The rule of the first step inside a call that answers otherwise; None where it tells nothing of its own."""
    for kind, named in (("flushed", ("ns",)), ("forwarded", ("store", "key"))):
        for wanted, made in zip(expected.get(kind, ()), got.get(kind, ()), strict=False):
            if {**wanted, "inner": ()} != {**made, "inner": ()}:
                return None
            if wanted["inner"] == made["inner"]:
                continue
            if not wanted["inner"] or not made["inner"]:
                return Rule.K_LISTEN_3
            steps = _steps(case.steps[: at + 1], tuple(wanted[name] for name in named))
            pairs = zip(wanted["inner"], made["inner"], strict=False)
            index = next((index for index, (one, other) in enumerate(pairs) if one != other), None)
            if index is None or index >= len(steps):
                return None
            return _rule(case.steps[at], steps[index], wanted["inner"][index], made["inner"][index])
    return None


def _steps(steps: Sequence[Any], place: tuple[str, ...]) -> tuple[Any, ...]:
    """What the listener of a namespace, or a processor behind a store, was last told to do there."""
    told: tuple[Any, ...] = ()
    for op in steps:
        if isinstance(op, Listen) and place == (op.ns,):
            told = () if op.on_flush is ABSENT else op.on_flush
        elif isinstance(op, OnForward) and place == (op.store, op.key):
            told = op.steps
    return told


def _rule(outer: Any, op: Any, wanted: Mapping[str, Any], made: Mapping[str, Any]) -> Rule | None:
    name = type(op).name
    if name == "metrics":
        rules = THREAD_RULES if "puts" in wanted else SPACE_RULES
        rule = next((rule for field, rule in rules.items() if wanted.get(field) != made.get(field)), None)
        return Rule.K_PUT_8 if rule is Rule.K_PUT_1 and isinstance(outer, PutIfAbsent) else rule
    if name == "put_if_absent":
        return Rule.K_PUT_8 if "error" in wanted or "error" in made else Rule.K_PUT_7
    if name in LISTINGS and _entries(made) == [entry for entry in _entries(wanted) if entry[1] is not None]:
        return Rule.K_RANGE_1
    return READ_RULES.get(name)


def _entries(outcome: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    return [tuple(entry) for entry in outcome.get("entries", ())]


def measures_otherwise(subject: UnderTest, case: Case) -> bool:
    """Whether a write of this case, made alone and without a limit in reach, counts other bytes than it should."""
    if not {"put", "usage"} <= subject.declaration.ops:
        return False
    writes = list(dict.fromkeys(_writes(case.steps)))[:WRITES_MOST]
    base = subject.declaration.base_config()
    cases = [
        dataclasses.replace(case, config=base, steps=(write, Usage()), outcomes=(), got=(), rules=(), note="")
        for write in writes
    ]
    for write, answer in zip(writes, subject.play(cases), strict=True):
        if not isinstance(answer, Played):
            return False
        told = subject.declaration.system.wire.declared_part(answer.outcomes[1], frozenset())
        if told.get("entries") == 1 and told["bytes"] not in {0, _bytes(write)}:
            return True
    return False


def is_right_one_by_one(subject: UnderTest, case: Case) -> bool:
    """Whether a case with batches is answered rightly where each batch is single writes, up to its first error."""
    if "put" not in subject.declaration.ops or not any(isinstance(op, PutAll) for op in case.steps):
        return False
    singles = dataclasses.replace(case, steps=tuple(_singles(case)), outcomes=(), got=(), rules=(), note="")
    answer = subject.play([singles])[0]
    if not isinstance(answer, Played):
        return False
    return judge(singles, trajectory(singles, Coverage()), answer, subject.declaration) is None


def _singles(case: Case) -> Iterator[Any]:
    """The steps of a case, each batch as the writes that it is by the reference."""
    state = case.system.model.initial(case.config)
    for op in case.steps:
        for single in _puts(op.ns, op.entries) if isinstance(op, PutAll) else (op,):
            done = case.system.model.step(state, single, case.config)
            state = done.state
            yield single
            if single is not op and isinstance(done.outcome.answer, Failed):
                break


def _puts(ns: str, entries: Sequence[Any]) -> Iterator[Put]:
    for entry in entries:
        yield Put(ns, **{field.name: getattr(entry, field.name) for field in dataclasses.fields(entry)})


def _bytes(write: Put) -> int:
    return size_bytes(write.key, write.value, write.topic, write.headers)


def _writes(steps: Sequence[Any]) -> Iterator[Put]:
    """Every entry that a case writes by name, also inside calls, as a put of its own."""
    for op in steps:
        if isinstance(op, PutAll):
            yield from _puts("a", op.entries)
        elif isinstance(op, Put | PutIfAbsent):
            yield Put(**{**{name: getattr(op, name) for name in FIELDS}, "ns": "a"})
        if isinstance(op, Listen) and op.on_flush is not ABSENT:
            yield from _writes(op.on_flush)
        elif isinstance(op, OnForward):
            yield from _writes(op.steps)


__all__ = ["inner_rule", "is_right_one_by_one", "measures_otherwise"]
