"""Runs with hundreds of whatever can be counted, and short ones of stores whose forwards write, delete and flush."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Final

from entrycache_evidence.kafka_streams.large import ENTRY_BYTES, PLENTY_BYTES, READINGS, Run
from entrycache_evidence.kafka_streams.runs import RELEASED
from entrycache_reference.kafka_streams import ops
from entrycache_reference.kafka_streams.config import Config, Variants

MANY: Final = 300
"""Of what takes a step each."""
MORE: Final = 1_100
"""Of what one step makes."""
STORMS: Final = 40
"""Short runs of each reading."""


def keys(number: int) -> Iterator[ops.Op]:
    """Many keys in one namespace, all dirty: listed, handed over, evicted by one write and by a lower limit."""
    names = [f"{at * 7 % number:04}" for at in range(number)]
    every = tuple(ops.Write(name, None if at % 50 == 3 else "1", True) for at, name in enumerate(names))
    yield from (
        ops.PutAll("a", every),
        ops.Usage("a"),
        ops.Listen("a"),
        ops.All("a"),
        ops.Range("a", "0001", names[-1]),
    )
    yield from (ops.Flush("a"), ops.PutAll("a", every), ops.Evict("a"), ops.Flush("a"), ops.Metrics("a"))
    yield from (ops.PutAll("a", every), ops.Put("a", "x", "v" * (PLENTY_BYTES - 100), True), ops.Metrics())
    yield from (ops.Clear("a"), ops.PutAll("a", every), ops.Resize(ENTRY_BYTES), ops.Usage(), ops.Metrics())


def spaces() -> Iterator[ops.Op]:
    """Many namespaces, not opened in the order of their names, some of which nobody listens to."""
    names = [f"{number * 7 % MANY}" for number in range(MANY)]
    yield from (ops.Listen(ns) for ns in names[::2])
    yield from (ops.Put(ns, "x", "1", number % 3 == 0) for number, ns in enumerate(names))
    yield from (ops.Usage(), ops.Metrics(), ops.Resize(100 * ENTRY_BYTES), ops.Usage(), ops.Metrics(), ops.Resize(0))


def headers() -> Iterator[ops.Op]:
    """A record with many headers, once and after it was replaced, handed over."""
    many = tuple((f"h{number}", "é" * (number % 3)) for number in range(MANY))
    yield from (ops.Listen("a"), ops.Put("a", "x", "1", True, "t", many), ops.Put("a", "y", "1", True, "t", many[:-1]))
    yield from (ops.Usage("a"), ops.Put("a", "x", None, True, "t", many), ops.Flush("a"), ops.Usage("a"))


def lost() -> Iterator[ops.Op]:
    """Many keys that were evicted while nobody listened."""
    names = [f"{number:03}" for number in range(MANY)]
    yield ops.PutAll("a", tuple(ops.Write(name, "1", True) for name in names))
    yield from (ops.Evict("a") for _ in range(MANY - 20))
    yield from (ops.Listen("a"), ops.Usage("a"), ops.Flush("a"), ops.Metrics("a"), ops.Evict("a"))


def storm(source: random.Random) -> Iterator[ops.Op]:
    """One store, few keys: forwards that write, delete, look up and flush the same keys; flushes set them off."""
    for key in "abc":
        if source.random() < 0.7:
            yield ops.OnForward("s", key, tuple(_steps(source, source.randint(1, 3))))
    for _ in range(3):
        yield from _steps(source, source.randint(2, 6))
        yield from (source.choice((ops.StoreFlush("s"), ops.Flush("s"), ops.Evict("s"))), ops.StoreInner("s"))
    yield from (ops.StoreAll("s"), ops.StoreFlush("s"), ops.StoreInner("s"))


def _steps(source: random.Random, number: int) -> Iterator[ops.Op]:
    for _ in range(number):
        key = source.choice("abc")
        made: Sequence[ops.Op] = (
            ops.StorePut("s", key, source.choice(("1", "2", None))),
            ops.StoreDelete("s", key),
            ops.StoreFlush("s"),
            ops.StoreGet("s", key),
            ops.Flush("s"),
            ops.StorePut("s", key, "3"),
            ops.StoreDelete("s", key),
        )
        yield source.choice(made)


def crowds() -> Iterator[Run]:
    """All of them under the norm or as the releases do it; storms under every reading."""
    config, released = Config(PLENTY_BYTES), Config(PLENTY_BYTES, variants=RELEASED)
    for played in (keys(MORE), spaces(), headers()):
        yield config, tuple(played)
    yield released, (*keys(MANY + 11), *lost())
    for at, variants in enumerate((Variants(), *READINGS)):
        for number in range(STORMS):
            source = random.Random(f"{at} {number}")
            limit = source.choice((PLENTY_BYTES, PLENTY_BYTES, 3 * ENTRY_BYTES, ENTRY_BYTES))
            yield Config(limit, source.choice((2, 8)), variants), tuple(storm(source))
