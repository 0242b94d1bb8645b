"""Stress runs of `kafka-streams`: more keys, namespaces, turns, calls and bytes than any bounded model has.

`generate_large_runs` yields runs that were written by hand, each for an edge that a bounded model cannot reach.
`generate_crowded_runs` yields runs with hundreds of each countable thing, and short random runs of stores whose
forwards write, delete and flush.
"""

import random
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import fields, replace
from itertools import combinations
from typing import Any, Final

from entrycache_evidence.core.stress import choose_each_variant
from entrycache_evidence.kafka_streams.runs import ENTRY_BYTES, PLENTY_BYTES, RELEASED, generate_failing_runs
from entrycache_reference.kafka_streams import config as configuration
from entrycache_reference.kafka_streams import ops, view_ops

Run = tuple[configuration.Config, tuple[ops.Op, ...]]

KEYS: Final = tuple(f"{number:03}" for number in range(70))
MIXED: Final = ("", "é", "z", "zz", "\uffff", "\U00010000", "\ud83d", "y\U0001f600", "a")
"""Keys whose order differs by code points, by UTF-16 units and by bytes."""
CROWD: Final = 300
SINGLE_VARIANTS: Final = (
    configuration.Variants(undelivered_eviction=configuration.UndeliveredEviction.LOST),
    configuration.Variants(failed_flush=configuration.FailedFlush.CLEAN),
    configuration.Variants(total=configuration.Total.RUNNING),
    configuration.Variants(flushed_tombstone=configuration.FlushedTombstone.ANY_WRITE),
    configuration.Variants(delivery=configuration.Delivery.ONE_BY_ONE),
    configuration.Variants(delete_read=configuration.DeleteRead.CACHED),
    RELEASED,
)


def write_dirty(ns: str, number: int, every: int = 5) -> Iterator[ops.Op]:
    """Write this many dirty entries with different contexts, out of order; one in `every` is a tombstone."""
    for index in range(number):
        value = None if index % every == 2 else "v" * (index % 7)
        key = KEYS[index * 37 % len(KEYS)]
        yield ops.Put(ns, key, value, True, "t" * (index % 3), (("h", "x"), ("h", "y")), index, index, index % 4)


def write_small(ns: str, keys: Iterable[str], dirty: Container[str] = ()) -> Iterator[ops.Op]:
    """Write one small entry for each key, some of them dirty."""
    return (ops.Put(ns, key, "1", key in dirty) for key in keys)


def close_all(names: Iterable[str]) -> Iterator[ops.Op]:
    """Close these namespaces."""
    return (ops.Close(ns) for ns in names)


def query_all(ns: str) -> tuple[ops.Op, ...]:
    """List a namespace in every way, over few keys, many and all, and query it."""
    first, last = KEYS[3], KEYS[-4]
    return (
        ops.Range(ns, first, last),
        ops.Range(ns, first, last, to_inclusive=False),
        ops.ReverseRange(ns, first, last),
        ops.Range(ns, None, ""),
        ops.Range(ns, "y", "\uffff"),
        ops.All(ns),
        ops.ReverseAll(ns),
        ops.Usage(ns),
        ops.Metrics(ns),
        ops.Usage(),
        ops.Metrics(),
    )


def flush_and_evict() -> Iterator[ops.Op]:
    """Flush and evict many dirty entries among clean ones."""
    listener = (*(ops.Put("b", key, "1", True) for key in KEYS[:6]), ops.Get("a", KEYS[9]), ops.Flush("b"))
    for number, listener_steps in enumerate(((), listener)):
        yield from (ops.Listen("a", listener_steps), ops.Listen("b"), *write_dirty("a", 60), *write_dirty("b", 30))
        yield from (*(ops.Get("a", key) for key in KEYS[:60]), *query_all("a"))
        yield from (ops.Evict("a"), *write_dirty("a", 25), *(ops.Evict("a") for _ in range(8)))
        yield from (ops.Put("a", KEYS[5], "w"), ops.Flush("a"))
        yield from (ops.Put("a", key, "c") for key in KEYS[40:60])
        yield from (ops.Evict("a"), *write_dirty("a", 20), *(ops.Delete("a", key) for key in KEYS[2:30:3]))
        yield from (*query_all("a"), ops.Flush("a"), *query_all("b"), ops.Clear("a"), *query_all("a"))
        if number:
            yield from (ops.Close("a"), ops.Close("b"), ops.Put("a", "x", "1"), *query_all("a"))


def long_texts() -> Iterator[ops.Op]:
    """Use long values and topics, repeated headers, characters outside of the basic plane, and differing orders."""
    for number, key in enumerate(MIXED):
        value = (None, "", "é" * 6_000, "\U0001f600" * 4_000, "\ud83d")[number % 5]
        yield ops.Put(
            "a", key, value, number % 2 == 0, "é\U0001f600" * number, (("\U0001f600", "é"), ("h", ""), ("h", "z"))
        )
    yield ops.Put("a", "half", "1", True, "\ud83d", (("\ude00", "1"),))
    yield from (ops.PutIfAbsent("a", key, "1", True, timestamp=0, offset=0, partition=0) for key in MIXED)
    yield from (ops.Get("a", key) for key in MIXED)
    yield from (ops.All("a"), ops.ReverseAll("a"), ops.Usage("a"))
    yield from (ops.Range("a", one, other) for one in MIXED for other in MIXED[::2])
    yield from (ops.Listen("a"), ops.Flush("a"), ops.All("a"))
    long = "k" * 70_000
    yield from (
        *write_small("b", (long, long + "y", long + "z")),
        ops.Range("b", long, long + "y"),
        ops.Range("b", long, long),
    )


def overflow_by_one_write() -> Iterator[ops.Op]:
    """Evict more keys than a bound might allow, by one write and by a lower limit."""
    keys = tuple(f"{number:03}" for number in range(CROWD))
    yield from (
        ops.PutAll("a", tuple(ops.Write(key, "1") for key in keys)),
        ops.Put("a", "x", "v" * (PLENTY_BYTES - 60)),
    )
    yield from (ops.Usage(), ops.Clear("a"), ops.PutAll("a", tuple(ops.Write(key, "1") for key in keys)))
    yield from (ops.Resize(ENTRY_BYTES), ops.Metrics())


def limits() -> Iterator[ops.Op]:
    """Overflow and lower limits that take many turns of one namespace, of three and of five."""
    yield from (ops.Listen(ns) for ns in "abcde")
    yield from (*(event for ns in "abcde" for event in write_dirty(ns, 20)), ops.Usage(), ops.Metrics())
    yield from (ops.Resize(4_000), ops.Metrics(), ops.Resize(1_234_567), *write_dirty("a", 60))
    yield from (ops.Resize(3_000), ops.Put("c", "x", "v" * 2_900), ops.Usage(), ops.Resize(PLENTY_BYTES))
    many = tuple(ops.Write(key, "1", number % 3 == 0) for number, key in enumerate((*KEYS[:20], *KEYS[30:40])))
    yield from (ops.PutAll("d", many), ops.PutAll("d", (*many, ops.Write(KEYS[0], "2"))), ops.Usage("d"))
    yield from (ops.PutIfAbsent("e", KEYS[2], None) for _ in range(3))
    yield from (ops.Delete("e", "-"), ops.Metrics("e"))
    yield from (ops.Listen("c", fails=2), *write_dirty("c", 20), ops.Flush("c"), ops.Flush("c"), ops.Flush("c"))


def calls() -> Iterator[ops.Op]:
    """Let listeners call one another many times, and close and rewrite what is being flushed."""
    steps = (ops.Put("b", "x", "1", True), ops.Flush("b"), ops.Put("b", "y", None, True), ops.Flush("b"))
    yield ops.Listen("b", (ops.Put("a", "x", "2", True), ops.Flush("c"), ops.Get("a", "x")))
    yield ops.Listen("c", (ops.Put("b", "z", "1", True),))
    for _ in range(3):
        yield ops.Listen("a", (*steps, *steps, ops.Get("a", "x"), ops.Usage()))
        yield from (*write_dirty("c", 5), *write_dirty("a", 5), ops.Flush("a"), *query_all("a"))
        yield ops.Listen("a", (ops.Close("a"), *write_dirty("a", 3), ops.Close("a"), *write_dirty("a", 2)))
        yield from (*write_dirty("a", 4), ops.Flush("a"), *query_all("a"))


def closings() -> Iterator[ops.Op]:
    """Close, fill and flush a namespace inside a call, and close and fill it again in that flush."""
    inner = ops.Listen("a", (ops.Close("a"), ops.Put("a", "y", "1", True)))
    yield ops.Listen("a", (ops.Close("a"), inner, ops.Put("a", "x", "1", True), ops.Flush("a")))
    yield from (ops.Put("a", "w", "1", True), ops.Flush("a"), ops.Usage())
    for step in (ops.Close("a"), ops.Delete("a", "w"), ops.Clear("a")):
        yield from (ops.Close("a"), ops.Listen("a", (step, ops.Put("a", "x", "2"), ops.Put("a", "w", "2"))))
        yield from (ops.Put("a", "w", None, True), ops.Flush("a"), ops.All("a"))
        yield from (ops.Close("a"), ops.Listen("a", (step,)), ops.Put("a", "w", None, True), ops.Flush("a"))
    yield from (ops.Close("a"), ops.Listen("a", (ops.Put("a", "w", "2"),)), ops.Put("a", "w", None, True))
    yield from (ops.Evict("a"), ops.All("a"), ops.Usage(), ops.Resize(2 * ENTRY_BYTES), ops.Close("a"))
    steps = (ops.Close("a"), ops.Put("a", "y", "1"), ops.Put("b", "q", "v" * 100, True))
    yield from (ops.Listen("a", steps), *write_small("a", "xwv", "x"), ops.Usage())


def evict_unheard() -> Iterator[ops.Op]:
    """Evict entries without a listener or with a failing one, and flush afterwards."""
    for listener in (ops.Listen("a"), ops.Listen("a", fails=1)):
        yield from (
            ops.Close("a"),
            *write_dirty("a", 4),
            ops.Evict("a"),
            *write_dirty("a", 12),
            ops.Evict("a"),
            listener,
        )
        yield from (ops.Evict("a"), ops.Evict("a"), ops.Usage(), ops.Flush("a"), ops.Evict("a"), *query_all("a"))
    for listener in (ops.Listen("a"), ops.Listen("a", fails=1)):
        yield from (
            ops.Close("a"),
            *write_small("a", "exyz", "exyz"),
            *(ops.Get("a", key) for key in "zxe"),
        )
        yield from (ops.Evict("a"), ops.Get("a", "x"), ops.Put("a", "y", "1"), ops.PutIfAbsent("a", "y", "q"))
        yield from (
            ops.PutIfAbsent("a", "x", "y"),
            listener,
            ops.Flush("a"),
            *query_all("a"),
            ops.Evict("a"),
            ops.Evict("a"),
        )
        yield from (*query_all("a"), ops.Put("a", "c", "1"), ops.Get("a", "x"), ops.Get("a", "e"), ops.Evict("a"))
        yield from (ops.PutIfAbsent("a", "y", "2", True), ops.Usage(), ops.Flush("a"), *query_all("a"))


def evict_refused() -> Iterator[ops.Op]:
    """Refuse the eviction of an entry that is not the first dirty one, then of one that is."""
    yield from (
        ops.Listen("a", fails=2),
        *write_small("a", "xyz", "xyz"),
        ops.Get("a", "x"),
        ops.Evict("a"),
        ops.Metrics("a"),
    )
    yield from (ops.Put("a", "w", "1", True), ops.Evict("a"), ops.Metrics("a"), ops.Flush("a"), ops.All("a"))


def limits_within_rounds() -> Iterator[ops.Op]:
    """Meet limits in the middle of a round, with a stale running total, and close namespaces during a turn."""
    yield from (
        *write_small("b", "x"),
        *write_small("aa", "x"),
        *write_small("C", "x"),
        ops.Resize(ENTRY_BYTES),
        ops.Metrics("aa"),
    )
    yield from (ops.Metrics("b"), ops.All("aa"), ops.All("b"), ops.Resize(PLENTY_BYTES), *close_all(("aa", "b", "C")))
    yield from (ops.Put("a", "x", "1"), ops.Put("b", "x", "1"), ops.Put("b", "y", "1"), ops.Put("c", "x", "1"))
    for left in (3, 2, 1, 0):
        yield from (ops.Resize(left * ENTRY_BYTES), ops.Usage(), ops.Metrics())
    yield from (ops.Resize(PLENTY_BYTES), *close_all("abc"))
    yield from (ops.Listen("a", (ops.Put("a", "y", "1"),)), ops.Put("a", "x", "1", True), ops.Resize(2 * ENTRY_BYTES))
    yield from (ops.Flush("a"), ops.Resize(2 * ENTRY_BYTES), ops.Usage(), ops.Metrics(), ops.Resize(PLENTY_BYTES))
    yield from (ops.Put("a", "z", "1"), *write_small("b", KEYS[:6]), ops.Resize(2 * ENTRY_BYTES))
    yield from (ops.Metrics(), ops.Resize(PLENTY_BYTES), *close_all("abc"))
    yield from (ops.Listen("a", (ops.Close("b"), ops.Put("b", "y", "1"))), ops.Put("a", "x", "1", True))
    yield from (ops.Put("b", "x", "1"), ops.Resize(ENTRY_BYTES - 1), ops.Metrics(), ops.Resize(PLENTY_BYTES))
    yield from (*close_all("ab"), ops.Listen("a", (ops.Resize(PLENTY_BYTES),)), ops.Put("a", "x", "1", True))
    yield from (ops.Put("b", "x", "1"), ops.Resize(0), ops.Usage(), ops.Metrics())


def reopen_during_turn() -> Iterator[ops.Op]:
    """Close and refill a namespace before the turn that it was chosen for; close one before it is chosen."""
    own = (ops.Close("b"), *(ops.Put(ns, key, "1") for ns, key in ("by", "ay", "az")))
    yield from (ops.Listen("a", own), ops.Put("a", "x", "1", True))
    yield from (*write_small("b", "01234"), ops.Resize(200), ops.Usage(), ops.Metrics())
    yield from (ops.Resize(PLENTY_BYTES), *close_all("ab"), ops.Listen("a", (ops.Close("c"),)))
    yield ops.Put("a", "x", "1", True)
    yield from (ops.Put(ns, key, "1") for ns in "bcd" for key in "01234")
    yield from (ops.Resize(3 * ENTRY_BYTES), ops.Usage(), ops.Metrics())


def run_endless_loop() -> Iterator[ops.Op]:
    """Keep the running total above the sum until nothing is left to evict; then close the last namespace."""
    yield from (ops.Listen("a", (ops.Put("a", "y", "1"),)), ops.Put("a", "x", "1", True), ops.Flush("a"))
    yield from (ops.Put("b", "x", "1"), ops.Resize(0), ops.Resize(PLENTY_BYTES), ops.Close("b"), ops.Close("a"))
    yield from (ops.Listen("a", (ops.Close("a"),)), ops.Put("a", "x", "1", True), ops.Resize(0), ops.Usage())
    yield from (
        ops.Resize(PLENTY_BYTES),
        ops.Listen("a", (ops.Resize(0), ops.Put("a", "z", "1"))),
        ops.Put("a", "x", "1", True),
        ops.Flush("a"),
    )


def counters() -> Iterator[ops.Op]:
    """Write and look up until every counter is above 100."""
    for _ in range(110):
        yield from (ops.Put("a", "x", "1"), ops.Get("a", "x"), ops.Get("a", "y"))
    yield from (ops.Metrics("a"), ops.Metrics())


def stores() -> Iterator[ops.Op]:
    """Use two stores with many keys and steps downstream, over limits from none to plenty."""
    for store in "st":
        yield from (ops.StorePut(store, key, "1") for key in KEYS[::2])
    yield ops.OnForward("s", KEYS[0], (ops.StorePut("t", KEYS[2], "2"), ops.StoreFlush("t"), ops.StoreAll("s")))
    yield ops.OnForward("s", KEYS[4], (ops.StorePut("s", KEYS[6], "3"), ops.StoreFlush("s")))
    yield from (ops.OnForward("s", key, ()) for key in KEYS[8:14])
    for flushed in (ops.StoreFlush("s"), ops.Evict("s"), ops.Resize(900)):
        yield from (ops.StorePut("s", key, ("", None, "5")[number % 3]) for number, key in enumerate(KEYS[:40]))
        yield from (ops.StoreGet("s", key) for key in KEYS[:50:3])
        yield from (flushed, ops.StoreInner("s"))
        yield from (ops.StoreDelete("s", key) for key in KEYS[1:30:4])
        yield from (ops.StoreAll("s"), ops.StoreFlush("s"))
        yield from (ops.StoreRange("s", KEYS[5], KEYS[33]), ops.StoreInner("s"), ops.StoreInner("t"), ops.Metrics())
    yield ops.Resize(0)
    yield from (ops.StoreDelete("s", key) for key in KEYS[:40])
    yield from (ops.StoreInner("s"), ops.Metrics())
    yield from (ops.Close("s"), ops.StoreGet("s", "-"), ops.StoreGet("s", KEYS[0]), ops.Metrics("s"))
    yield from (ops.Resize(PLENTY_BYTES), ops.OnForward("u", KEYS[0], (ops.Listen("u"),)))
    for value in "12":
        yield from (ops.StorePut("u", key, value) for key in KEYS[:3])
        yield from (ops.StoreFlush("u"), ops.StoreInner("u"))
    yield from (ops.Share(10**12 + number, number * 37, number % 2 == 0) for number in range(5))


def open_views() -> Iterator[ops.Op]:
    """Read views to their end and beyond it, while keys come, go and return around them."""
    for backward in (False, True):
        yield from (ops.StorePut("s", key, "1") for key in "bdfh")
        yield from (view_ops.ViewOpen("v", "s", backward=backward), view_ops.ViewNext("v"))
        yield from (ops.StoreDelete("s", key) for key in ("d", "b" if backward else "h"))
        yield from (ops.StorePut("s", key, "2") for key in "aefg")
        yield from (ops.StoreFlush("s"), ops.Evict("s"))
        yield from (view_ops.ViewNext("v") for _ in range(6))
        yield from (ops.StorePut("s", key, "3") for key in "abcdefghi")
        yield from (view_ops.ViewNext("v"), ops.Metrics("s"), view_ops.ViewClose("v"), view_ops.StoreClear("s"))
    yield from (view_ops.ViewOpen("v", "s", backward=True), view_ops.StoreClose("s"), view_ops.ViewNext("v"))


def close_downstream() -> Iterator[ops.Op]:
    """Close a store, and open it again, while entries wait to be forwarded."""
    for number in range(3):
        again = (view_ops.StoreOpen("s"), ops.StorePut("s", "b", "9"), ops.StoreFlush("s"))[:number]
        yield view_ops.StoreOpen("s")
        yield ops.OnForward("s", "a", (view_ops.StoreClose("s"), *again))
        yield from (ops.StorePut("s", key, "1") for key in "abc")
        yield from (ops.StoreFlush("s"), ops.StoreInner("s"), view_ops.StoreClose("s"))


LARGE_RUNS: Final = (
    open_views,
    close_downstream,
    flush_and_evict,
    long_texts,
    overflow_by_one_write,
    limits,
    calls,
    closings,
    evict_unheard,
    evict_refused,
    limits_within_rounds,
    reopen_during_turn,
    run_endless_loop,
    counters,
    stores,
)


def generate_large_runs() -> Iterator[Run]:
    """Generate every run with default variants, some with little room, and some with each variant of the releases."""
    config = configuration.Config(PLENTY_BYTES)
    for played in LARGE_RUNS:
        yield config, tuple(played())
    yield configuration.Config(900), tuple(flush_and_evict())
    yield configuration.Config(PLENTY_BYTES, 5), tuple(calls())
    for variants in SINGLE_VARIANTS:
        yield replace(config, variants=variants), (*flush_and_evict(), *calls(), *stores())
        for played in (
            limits,
            closings,
            evict_unheard,
            evict_refused,
            limits_within_rounds,
            reopen_during_turn,
            run_endless_loop,
            open_views,
            close_downstream,
        ):
            yield replace(config, variants=variants), tuple(played())


# --- Crowded runs

MANY: Final = 300
"""The number of items that take a step each."""
MORE: Final = 1_100
"""The number of items that one step makes."""
RANDOM_RUNS: Final = 40
"""The number of short runs of each variant."""


def keys(number: int) -> Iterator[ops.Op]:
    """List, flush and evict many dirty keys of one namespace, by one write and by a lower limit."""
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
    """Open many namespaces out of the order of their names, some without a listener."""
    names = [f"{number * 7 % MANY}" for number in range(MANY)]
    yield from (ops.Listen(ns) for ns in names[::2])
    yield from (ops.Put(ns, "x", "1", number % 3 == 0) for number, ns in enumerate(names))
    yield from (ops.Usage(), ops.Metrics(), ops.Resize(100 * ENTRY_BYTES), ops.Usage(), ops.Metrics(), ops.Resize(0))


def headers() -> Iterator[ops.Op]:
    """Flush a record with many headers, once and after it was replaced."""
    many = tuple((f"h{number}", "é" * (number % 3)) for number in range(MANY))
    yield from (ops.Listen("a"), ops.Put("a", "x", "1", True, "t", many), ops.Put("a", "y", "1", True, "t", many[:-1]))
    yield from (ops.Usage("a"), ops.Put("a", "x", None, True, "t", many), ops.Flush("a"), ops.Usage("a"))


def evict_many_unheard() -> Iterator[ops.Op]:
    """Evict many keys while nobody listens."""
    names = [f"{number:03}" for number in range(MANY)]
    yield ops.PutAll("a", tuple(ops.Write(name, "1", True) for name in names))
    yield from (ops.Evict("a") for _ in range(MANY - 20))
    yield from (ops.Listen("a"), ops.Usage("a"), ops.Flush("a"), ops.Metrics("a"), ops.Evict("a"))


def mix_store_operations(source: random.Random) -> Iterator[ops.Op]:
    """Use one store with few keys, whose forwards write, delete, look up and flush the same keys."""
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
        choices: Sequence[ops.Op] = (
            ops.StorePut("s", key, source.choice(("1", "2", None))),
            ops.StoreDelete("s", key),
            ops.StoreFlush("s"),
            ops.StoreGet("s", key),
            ops.Flush("s"),
            ops.StorePut("s", key, "3"),
            ops.StoreDelete("s", key),
        )
        yield source.choice(choices)


MIXED_RUNS: Final = 500
"""The number of short runs in which operations of all levels meet in one namespace."""
MIXED_STEPS: Final = 22
SPACES: Final = ("s", "s", "t")


def mix_operations(source: random.Random) -> Iterator[ops.Op]:
    """Mix operations of all levels on two namespaces of that many stores, so that each meets what others left."""
    yield from (view_ops.StoreOpen(ns, source.random() < 0.7) for ns in "st" if source.random() < 0.4)
    for _ in range(MIXED_STEPS):
        ns, view = source.choice(SPACES), source.choice("vw")
        steps = tuple(_mixed_step(source) for _ in range(source.randint(1, 3)))
        if source.random() < 0.2:  # a step inside a call asks for what an open view leaves to the subject
            steps = (*steps, source.choice((ops.Metrics(ns), view_ops.ViewNext(view))))
        choices: Sequence[ops.Op] = (
            _mixed_step(source),
            _mixed_step(source),
            _mixed_step(source),
            ops.Listen(ns, steps, source.choice((0, 0, 1, 2))),
            ops.OnForward(ns, source.choice("abc"), steps),
            ops.Resize(source.choice((PLENTY_BYTES, 3 * ENTRY_BYTES, ENTRY_BYTES))),
            _mixed_view(source, view, ns),
            view_ops.ViewNext(view),
            view_ops.ViewNext(view),
            source.choice((view_ops.ViewClose(view), ops.Metrics(ns))),
        )
        yield source.choice(choices)
    yield from (event for ns in "st" for event in (ops.Metrics(ns), ops.StoreAll(ns), ops.StoreInner(ns)))
    yield from (ops.Usage(), ops.Metrics())


def _mixed_view(source: random.Random, view: str, ns: str) -> view_ops.ViewOpen:
    """Open a view of all keys, of a range, or of the keys with a prefix."""
    first, last = source.choice((None, None, "a", "b")), source.choice((None, None, "b", "ab"))
    prefix = source.choice(("a", "")) if source.random() < 0.2 else None
    bounds = (None, None) if prefix is not None and source.random() < 0.7 else (first, last)
    return view_ops.ViewOpen(view, ns, *bounds, prefix is None and source.random() < 0.5, prefix)


def _mixed_query(source: random.Random, ns: str) -> ops.Op:
    """Choose a query of a store."""
    first, last = source.choice((None, "a", "b")), source.choice((None, "b", "c"))
    queries: Sequence[ops.Op] = (
        view_ops.StoreView(ns, first, last, source.random() < 0.5, "a" if source.random() < 0.2 else None),
        view_ops.StoreView(ns, prefix=source.choice("ab")),
        view_ops.StoreView(ns, first, last, source.random() < 0.5, isolation=source.choice([*view_ops.Isolation])),
        view_ops.StoreQueryRange(ns, first, last),
        view_ops.StoreCount(ns),
        ops.StoreInner(ns),
        ops.Metrics(ns),
    )
    return source.choice(queries)


def _mixed_step(source: random.Random) -> ops.Op:
    """Choose an operation that a listener may perform too."""
    ns, key, value = source.choice(SPACES), source.choice("abc"), source.choice(("1", "2", None))
    writes: Sequence[ops.Op] = (
        ops.Put(ns, key, value, source.random() < 0.7),
        ops.PutIfAbsent(ns, key, value, source.random() < 0.7),
        ops.PutAll(ns, tuple(ops.Write(one, value, True) for one in source.sample("abc", 2))),
        ops.StorePut(ns, key, value),
        view_ops.StorePutAll(ns, ((key, "3"), (source.choice("abc"), value), (key, "4"))),
        view_ops.StorePutIfAbsent(ns, key, value),
        ops.StoreDelete(ns, key),
        ops.Delete(ns, key),
    )
    reads: Sequence[ops.Op] = (
        ops.Get(ns, key),
        ops.StoreGet(ns, key),
        view_ops.StoreView(ns, backward=source.random() < 0.7),
        view_ops.StoreQuery(ns, key, source.random() < 0.5),
        source.choice((ops.All(ns), ops.ReverseAll(ns))),
        _mixed_query(source, ns),
    )
    drains: Sequence[ops.Op] = (ops.Flush(ns), ops.StoreFlush(ns), ops.Evict(ns))
    ends: Sequence[ops.Op] = (
        ops.Close(ns),
        ops.Clear(ns),
        view_ops.StoreClear(ns),
        view_ops.StoreClose(ns),
        view_ops.StoreOpen(ns, source.random() < 0.6),
    )
    return source.choice(source.choices((writes, reads, drains, ends), (4, 2, 3, 1))[0])


def generate_mixed_runs() -> Iterator[Run]:
    """Generate short runs of all levels under small budgets of calls, most of them under several variants."""
    for number in range(MIXED_RUNS):
        source = random.Random(f"mix {number}")
        variants = choose_each_variant(configuration.Variants(), source) if number % 3 else configuration.Variants()
        limit = source.choice((PLENTY_BYTES, PLENTY_BYTES, 3 * ENTRY_BYTES))
        yield configuration.Config(limit, source.choice((1, 2, 3, 8)), variants), tuple(mix_operations(source))


DOZENS: Final = 70
"""The number of open views, and of values of a key."""


def open_many_views() -> Iterator[ops.Op]:
    """Open dozens of views, and write dozens of values of one key while they are open."""
    yield from (ops.StorePut("s", key, "0") for key in "abc")
    yield from (view_ops.ViewOpen(f"v{number}", "s", backward=number % 2 == 0) for number in range(DOZENS))
    yield from (ops.StorePut("s", "b", f"{number}") for number in range(DOZENS))
    yield from (view_ops.ViewNext(f"v{number}") for number in range(DOZENS))
    yield from (view_ops.ViewClose("v3"), view_ops.ViewNext(f"v{DOZENS - 1}"), view_ops.StoreClose("s"))


def long_prefixes() -> Iterator[ops.Op]:
    """Read the keys that begin with a long prefix, and those that differ only at its end."""
    prefix = "é" * 1_600
    yield from (ops.StorePut("s", key, "1") for key in (prefix, f"{prefix}x", f"{prefix[:-1]}e", f"{prefix[:-1]}ê"))
    yield from (view_ops.StoreView("s", prefix=prefix), view_ops.ViewOpen("v", "s", prefix=prefix))
    yield from (view_ops.ViewNext("v") for _ in range(3))
    yield from (ops.StoreFlush("s"), ops.StoreInner("s"))


def call_many_times() -> Iterator[ops.Op]:
    """Let a listener throw and a call perform its steps hundreds of times."""
    many: tuple[ops.Op, ...] = (*(ops.Get("b", "x") for _ in range(MANY)), ops.Put("b", "y", "1"))
    yield from (ops.Listen("a", fails=MANY), ops.Put("a", "x", "1", True))
    yield from (ops.Flush("a") for _ in range(MANY + 1))
    yield from (ops.Listen("a", many), ops.Put("a", "x", "2", True))
    yield from (ops.Flush("a"), ops.Metrics("b"), ops.OnForward("s", "x", many), ops.StorePut("s", "x", "1"))
    yield from (ops.StoreFlush("s"), ops.Metrics("b"))


VIEW_VALUES: Final = {
    **{"from_": "a", "to": "b", "key": "a", "prefix": "a", "backward": True},
    **{"time_from": 1, "time_to": 9, "earliest_end": 1, "latest_start": 9},
}
"""The arguments of a view, and the value that each has where it is given."""


def ask_for_every_view(kind: view_ops.StoreKind) -> Iterator[ops.Op]:
    """Ask a store of this kind for views with every set of up to three arguments; it refuses most of them."""
    yield view_ops.StoreOpen("s", kind=kind)
    yield from (
        ops.StorePut("s", "ab", "1"),
        view_ops.WindowPut("s", "a", 4, "1"),
        view_ops.SessionPut("s", "a", 2, 4, "1"),
    )
    for of in (view_ops.StoreView, view_ops.WindowView, view_ops.SessionView, view_ops.ViewOpen):
        names = [each.name for each in fields(of) if each.name in VIEW_VALUES]
        for given in (given for count in range(4) for given in combinations(names, count)):
            values: dict[str, Any] = {name: VIEW_VALUES[name] for name in given}
            if of is view_ops.ViewOpen:
                yield from (view_ops.ViewOpen("v", "s", **values), view_ops.ViewClose("v"))
            else:
                yield of(store="s", **values)


def generate_crowded_runs() -> Iterator[Run]:
    """Generate all crowded runs with default variants or all variants, and short random runs with each variant."""
    config, released = configuration.Config(PLENTY_BYTES), configuration.Config(PLENTY_BYTES, variants=RELEASED)
    for played in (keys(MORE), spaces(), headers(), open_many_views(), long_prefixes(), call_many_times()):
        yield config, tuple(played)
    yield released, (*keys(MANY + 11), *evict_many_unheard())
    for at, variants in enumerate((configuration.Variants(), *SINGLE_VARIANTS)):
        for number in range(RANDOM_RUNS):
            source = random.Random(f"{at} {number}")
            limit = source.choice((PLENTY_BYTES, PLENTY_BYTES, 3 * ENTRY_BYTES, ENTRY_BYTES))
            yield configuration.Config(limit, source.choice((2, 8)), variants), tuple(mix_store_operations(source))
    yield from ((config, tuple(ask_for_every_view(kind))) for kind in view_ops.StoreKind)
    yield from generate_mixed_runs()
    yield from generate_failing_runs()
