"""Runs of `kafka-streams` that try its rules, and the cache that tests of single rules open.

`generate_runs` yields a few written runs, then random ones with the default variants and with those of the releases.
The seed is fixed.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from entrycache_conformance.generate import make_case
from entrycache_conformance.systems import SYSTEMS
from entrycache_conformance.systems.kafka_streams import generation, workload
from entrycache_evidence.core.models import current_model
from entrycache_evidence.core.stress import choose_each_variant
from entrycache_faults.reference.kafka_streams.threads import SHARED
from entrycache_protocol.declaration import Declaration
from entrycache_reference.kafka_streams import Config, Variants, initial, ops, step, view_ops
from entrycache_reference.kafka_streams import config as configuration
from entrycache_reference.kafka_streams.threads import history

SEED: Final = 430
CASES: Final = 150
VIEW_CASES: Final = 60
OPEN_VIEW_CASES: Final = 40
WINDOW_CASES: Final = 90
STEPS: Final = 25
RELEASED_CASES: Final = 60
LIMITS: Final = (0, 50, 100, 150, 20_000_000)

Run = tuple[Config, tuple[Any, ...]]

FORWARD_OVERTAKES: Final[Run] = (
    Config(),
    (
        ops.OnForward("s", "x", (ops.StorePut("s", "y", "2"), ops.StoreFlush("s"))),
        ops.StorePut("s", "x", "1"),
        ops.StorePut("s", "y", "1"),
        ops.StoreFlush("s"),
    ),
)
"""Steps downstream that write and flush a key before it is forwarded."""

FAILING_INSIDE: Final[Run] = (
    Config(),
    (
        ops.Put("a", "x", "1", True),
        ops.Listen("a", (ops.Put("b", "x", "1", True), ops.Flush("b"), ops.Get("a", "x"))),
        ops.Flush("a"),
    ),
)
"""A step of a listener that fails, with further steps after it."""

THROWN_IN_A_FLUSH: Final = (
    *(ops.Listen("a", fails=1), ops.Put("a", "x", "1", True)),
    *(ops.Flush("a"), ops.Metrics("a"), ops.Flush("a")),
)
"""A flush in which the listener throws, and another one."""

TWO_PAYERS: Final[Run] = (
    Config(),
    (*(ops.Put(ns, key, "1") for ns in "ab" for key in "xyz"), ops.Resize(4 * 47)),
)
"""A limit that is lowered while several namespaces hold entries."""

TOMBSTONE_REWRITTEN: Final = (
    ops.Put("a", "x", None, True),
    ops.Listen("a", (ops.Put("a", "x", "1"),)),
    ops.Flush("a"),
)
"""A listener that writes the key of the tombstone that it receives."""

TOMBSTONES_BACKWARD: Final = (
    *(ops.StorePut("s", key, "1") for key in "xy"),
    ops.StoreFlush("s"),
    view_ops.StoreClear("s"),
    *(ops.StorePut("s", key, None) for key in "xz"),
    view_ops.StoreView("s", backward=True),
)
"""A backward view that meets a tombstone above every key of the underlying store, and one that comes too early."""

TOMBSTONE_DROPPED: Final = (
    *TOMBSTONES_BACKWARD[:-3],
    ops.StorePut("s", "y", None),
    ops.StoreAll("s"),
    view_ops.StoreView("s", backward=True),
)
"""A view that meets an uncached key before the tombstone of another one."""

OPENED: Final = (*(ops.StorePut("s", key, "1") for key in "xy"), view_ops.ViewOpen("v", "s"), view_ops.ViewNext("v"))
OPEN_VIEWS: Final = (
    *((*OPENED, end) for end in (ops.Close("s"), view_ops.StoreClose("s"), ops.Evict("s"), ops.Metrics("s"))),
    (*OPENED, ops.Metrics("s"), view_ops.ViewNext("v"), ops.Metrics("s"), ops.Evict("s"), view_ops.ViewClose("v")),
    (*OPENED, ops.OnForward("s", "x", (view_ops.ViewNext("v"), ops.Metrics("s"))), ops.StoreFlush("s")),
)
"""Runs in which an open view leaves the order of use open, and what makes it certain again."""

OLD_VALUES: Final[Run] = (
    Config(reentry_budget=1),
    (
        view_ops.StoreOpen("s", old_values=True),
        *(ops.StorePut("s", "x", "1"), ops.StoreFlush("s")),
        ops.OnForward("s", "x", (ops.StorePut("s", "x", "3"), ops.StoreFlush("s"))),
        *(ops.StorePut("s", "x", "2"), ops.StoreFlush("s")),
    ),
)
"""A key that is forwarded twice in one step, by a store that forwards old values."""

FAILING_FORWARDS: Final = (
    *(ops.StorePut("s", key, "1") for key in "xy"),
    ops.StoreFlush("s"),
    *(ops.StorePut("s", "x", None), ops.StorePut("s", "y", "2"), ops.StorePut("s", "z", "3")),
    *(view_ops.FailForward("s", "y", 1), ops.StoreFlush("s"), ops.StoreFlush("s")),
    *(ops.StorePut("s", "y", "4"), ops.StorePut("s", "z", "5"), view_ops.FailForward("s", "y", 2)),
    *(ops.Evict("s"), view_ops.StoreClose("s")),
)
"""Forwards that throw in a flush that is repeated, in an eviction, and while the store closes."""

FAILING_INSIDE_FORWARD: Final = (
    ops.OnForward("s", "x", (ops.StorePut("s", "y", "2"), ops.StoreFlush("s"), ops.StoreGet("s", "y"))),
    *(view_ops.FailForward("s", "y", 1), ops.StorePut("s", "x", "1"), ops.StorePut("s", "z", "1")),
    ops.StoreFlush("s"),
)
"""A forward that throws inside the call of another one, which goes on."""
FAILING_EVENTS: Final[tuple[ops.Op, ...]] = (
    *(ops.StorePut("s", key, value) for key in "xy" for value in ("1", None)),
    *(view_ops.FailForward("s", "y", forwards) for forwards in (0, 1)),
    *(ops.StoreFlush("s"), ops.Evict("s"), view_ops.StoreClose("s"), view_ops.StoreOpen("s")),
    ops.OnForward("s", "x", (ops.StorePut("s", "y", "2"), ops.StoreFlush("s"), ops.Evict("s"))),
    ops.OnForward("s", "x", (ops.Delete("s", "x"), ops.Evict("s"), ops.StoreGet("s", "y"))),
)
"""A store whose forwards throw in flushes, evictions and closings."""

OPEN_VIEW_EVENTS: Final[tuple[ops.Op, ...]] = (
    *(ops.StorePut("s", key, value) for key in "xy" for value in ("1", None)),
    ops.StoreGet("s", "x"),
    ops.StoreDelete("s", "y"),
    view_ops.StorePutIfAbsent("s", "x", "2"),
    view_ops.StorePutAll("s", (("x", "2"), ("x", "1"))),
    view_ops.StoreView("s", backward=True),
    view_ops.StoreQuery("s", "x"),
    view_ops.StoreClear("s"),
    view_ops.StoreClose("s"),
    view_ops.StoreOpen("s"),
    ops.StoreFlush("s"),
    ops.OnForward("s", "x", (ops.StorePut("s", "y", "2"),)),
    ops.Evict("s"),
    ops.Metrics("s"),
    ops.Resize(47),
    view_ops.ViewOpen("v", "s", backward=True),
    view_ops.ViewNext("v"),
    view_ops.ViewClose("v"),
)
"""The operations of a store of which a view may be open."""

OLD_VALUE_EVENTS: Final[tuple[ops.Op, ...]] = (
    *(ops.StorePut("s", key, value) for key in "xy" for value in ("1", None)),
    ops.StoreDelete("s", "x"),
    ops.StoreFlush("s"),
    ops.Evict("s"),
    view_ops.StoreClear("s"),
    view_ops.StoreClose("s"),
    *(view_ops.StoreOpen("s", old_values) for old_values in (False, True)),
    ops.OnForward("s", "x", (ops.StorePut("s", "x", "2"), ops.StoreFlush("s"))),
    ops.OnForward("s", "x", (ops.StoreDelete("s", "x"),)),
)
"""The operations of a store that forwards old values or does not."""

USED_EVENTS: Final[tuple[ops.Op, ...]] = (
    ops.StorePut("s", "x", "1"),
    ops.StorePut("s", "x", None),
    ops.StoreGet("s", "x"),
    ops.StoreDelete("s", "x"),
    ops.StoreFlush("s"),
    ops.StoreAll("s"),
    ops.Put("s", "x", "2"),
    ops.Put("s", "x", "2", True),
    ops.Delete("s", "x"),
    ops.Listen("s"),
    ops.Listen("s", fails=1),
    ops.Listen("s", (ops.StorePut("s", "x", "3"),)),
    *(kind("s") for kind in (ops.Flush, ops.Evict, ops.Clear, ops.Close)),
    ops.Resize(0),
    ops.Resize(1000),
    ops.OnForward("s", "x", (ops.Clear("s"),)),
    ops.OnForward("s", "x", (ops.Close("s"), ops.StorePut("s", "x", "4"))),
)
"""The operations of a store, and of its namespace."""

WINDOWS: Final = view_ops.StoreOpen("s", kind=view_ops.StoreKind.WINDOW)
SEGMENTS: Final = replace(WINDOWS, below=view_ops.Underlying.SEGMENTS, segment_interval=10)
PLACES: Final = tuple(view_ops.WindowPut("s", key, start, "1") for key, start in (("b", 3), ("a", 12), ("a", 5)))
WRITTEN: Final = view_ops.WindowPut("s", "a", 5, "1"), ops.StoreFlush("s")
WINDOW_RUNS: Final = (
    (SEGMENTS, *PLACES, view_ops.WindowView("s"), view_ops.WindowView("s", time_to=12), ops.StoreInner("s")),
    (WINDOWS, *PLACES, view_ops.ViewOpen("v", "s"), *[view_ops.ViewNext("v")] * 4),
    (WINDOWS, *WRITTEN, view_ops.WindowPut("s", "a", 5, None), view_ops.WindowGet("s", "a", 5)),
    (
        WINDOWS,
        ops.OnForward("s", "a", (view_ops.WindowPut("s", "a", 5, "2"), view_ops.WindowGet("s", "a", 5))),
        *WRITTEN,
    ),
)
"""Views of windows whose keys and times disagree, a deleted window, and a read of what a forward has written."""

EXPIRING: Final = replace(WINDOWS, retention=2)
EXPIRING_EVENTS: Final[tuple[ops.Op, ...]] = (
    *(view_ops.WindowPut("s", "x", start, value) for start in (1, 3) for value in ("1", None)),
    view_ops.WindowPut("s", "w", 2, "1"),
    *(view_ops.WindowGet("s", "x", start) for start in (1, 3)),
    *(view_ops.WindowView("s", time_from=1, time_to=at, backward=at > 3) for at in (3, 2**41)),
    view_ops.WindowView("s", key="x", time_to=1),
    view_ops.StoreClear("s"),
    *(view_ops.StoreClose("s"), EXPIRING),
    *(ops.StoreFlush("s"), ops.StoreInner("s"), ops.Evict("s"), ops.Metrics("s"), ops.Resize(67), ops.Resize(1000)),
    ops.OnForward("s", "x", (view_ops.WindowPut("s", "x", 3, "2"), view_ops.WindowGet("s", "x", 3))),
)
"""The operations of a store of windows, of which a later one makes an earlier one expire."""

SESSIONS: Final = view_ops.StoreOpen("s", kind=view_ops.StoreKind.SESSION, retention=3)
SESSION_EVENTS: Final[tuple[ops.Op, ...]] = (
    *(view_ops.SessionPut("s", "x", start, 2, value) for start in (1, 2) for value in ("1", "2")),
    view_ops.SessionRemove("s", "x", 1, 2),
    view_ops.SessionPut("s", "w", 4, 5, "1"),
    view_ops.SessionGet("s", "x", 1, 2),
    view_ops.SessionView("s", from_=None, backward=True),
    *(view_ops.StoreClear("s"), view_ops.StoreClose("s"), SESSIONS),
    *(ops.StoreFlush("s"), ops.Evict("s"), ops.Metrics("s")),
    view_ops.ViewOpen("v", "s", key="x"),
    *(view_ops.ViewNext("v"), view_ops.ViewClose("v")),
)
"""The operations of a store of sessions of one end, also while a view of them is open."""

SEGMENT_START: Final = (replace(SEGMENTS, retention=20),)
SEGMENT_EVENTS: Final[tuple[ops.Op, ...]] = (
    *(view_ops.WindowPut("s", *window, value) for window in (("b", 3), ("a", 12)) for value in ("1", None)),
    view_ops.WindowPut("s", "a", 25, "1"),
    view_ops.WindowGet("s", "b", 3),
    *(view_ops.WindowView("s", backward=backward) for backward in (False, True)),
    *(view_ops.WindowView("s", "a", time_from=3, time_to=12, backward=backward) for backward in (False, True)),
    view_ops.WindowView("s", from_="b", to=None, time_to=2**41),
    *(ops.StoreFlush("s"), ops.StoreInner("s"), ops.Evict("s"), ops.Resize(67), ops.Resize(1000)),
)
"""The operations of a store of windows over segments: the last window makes the first expire, the others come late."""

SEGMENT_FORWARD: Final = ops.OnForward("s", "a", (view_ops.WindowGet("s", "b", 3),))
"""A read of another window inside the forward of a window."""
SEGMENT_VIEW: Final = (view_ops.ViewOpen("v", "s", from_=None), view_ops.ViewNext("v"), view_ops.ViewClose("v"))
"""A view of all windows, opened, moved and closed."""

VIEWED_SESSIONS_START: Final = (SESSIONS, view_ops.SessionPut("s", "x", 2, 2, "1"), ops.StoreFlush("s"))
VIEWED_SESSION_EVENTS: Final[tuple[ops.Op, ...]] = (
    *(view_ops.SessionPut("s", "x", 1, 2, "1"), view_ops.SessionRemove("s", "x", 1, 2)),
    *(view_ops.SessionPut("s", "w", 4, 5, "1"), view_ops.SessionRemove("s", "w", 4, 5)),
    view_ops.SessionGet("s", "x", 1, 2),
    view_ops.SessionView("s", from_=None, backward=True),
    view_ops.SessionView("s", key="x", earliest_end=2, latest_start=1),
    *(ops.StoreFlush("s"), ops.Evict("s")),
    *(view_ops.ViewOpen("v", "s", key="x"), view_ops.ViewNext("v"), view_ops.ViewClose("v")),
)
"""The operations of a store of sessions, one of which makes the others expire, and a view of those that expire."""

SESSION_CLOSINGS: Final = (view_ops.StoreClear("s"), ops.Metrics("s"), view_ops.StoreClose("s"), SESSIONS)
"""The emptying, the closing and the opening of a store of sessions."""

OTHER_STORE: Final = ops.StorePut("t", "x", "1")
"""A second store in the same cache."""

VIEWED_START: Final = (ops.StorePut("s", "y", "1"), ops.StoreFlush("s"))
VIEWED_EVENTS: Final[tuple[ops.Op, ...]] = (
    *(ops.StorePut("s", "x", value) for value in ("1", None)),
    *(ops.StoreDelete("s", "x"), ops.StoreGet("s", "x"), view_ops.StorePutIfAbsent("s", "x", "1")),
    view_ops.StorePutAll("s", (("x", None), ("x", "1"))),
    *(view_ops.StoreView("s", to="y"), view_ops.StoreCount("s"), view_ops.StoreQuery("s", "x")),
    *(ops.StoreFlush("s"), ops.Evict("s"), ops.Metrics("s")),
    *(view_ops.StoreClear("s"), view_ops.StoreClose("s"), view_ops.StoreOpen("s")),
    *(view_ops.ViewOpen("v", "s", backward=backward) for backward in (False, True)),
    *(view_ops.ViewNext("v"), view_ops.ViewClose("v")),
)
"""The operations of a store of which one key is written, while a view of it and of another key may be open."""

ASKED_BELOW: Final = (ops.StorePut("s", "x", "1"), view_ops.StoreQueryRange("s"))
"""A query of a range of which the underlying store has nothing yet."""

EXPIRED_CACHED: Final = (
    EXPIRING,
    *(view_ops.WindowPut("s", "x", start, "1") for start in (1, 9)),
    *(ops.StoreFlush("s"), view_ops.WindowPut("s", "x", 2, "1")),
    *(view_ops.WindowGet("s", "x", start) for start in (1, 2)),
)
"""Windows that have expired while they are cached, and one that is put when it has expired already."""

RELEASED: Final = Variants(
    configuration.UndeliveredEviction.LOST,
    configuration.FailedFlush.CLEAN,
    configuration.Total.RUNNING,
    configuration.FlushedTombstone.ANY_WRITE,
    configuration.Delivery.ONE_BY_ONE,
    configuration.DeleteRead.CACHED,
    configuration.BackwardTombstone.SHOWS,
    configuration.RangeQuery.BELOW,
    expired_windows=configuration.ExpiredWindows.CACHED,
    close_check=configuration.CloseCheck.KEY_VALUE,
)
"""The variants of kafka-streams 3.9.2 to 4.4.0."""


def generate_runs() -> Iterator[Run]:
    """Generate the same runs every time, with the default variants and with those of the releases."""
    yield from (FORWARD_OVERTAKES, FAILING_INSIDE, TWO_PAYERS, OLD_VALUES)
    written = (FORWARD_OVERTAKES[1], TOMBSTONE_REWRITTEN, TOMBSTONES_BACKWARD, ASKED_BELOW, EXPIRED_CACHED)
    for steps in (*written, THROWN_IN_A_FLUSH):
        yield Config(variants=RELEASED), steps
    yield Config(variants=Variants(view_tombstone=configuration.ViewTombstone.DROPPED)), TOMBSTONE_DROPPED
    yield from generate_default_runs(range(CASES + VIEW_CASES))
    yield from generate_released_runs()
    for steps in (*OPEN_VIEWS, FAILING_FORWARDS, FAILING_INSIDE_FORWARD):
        yield Config(), steps
    yield from generate_default_runs(range(CASES + VIEW_CASES, CASES + VIEW_CASES + OPEN_VIEW_CASES))
    for steps in WINDOW_RUNS:
        yield Config(), steps
    yield from generate_window_runs(Variants(), WINDOW_CASES)
    yield from generate_window_runs(RELEASED, WINDOW_CASES // 3)


def generate_window_runs(variants: Variants, cases: int) -> Iterator[Run]:
    """Generate cases with windows and sessions."""
    system = SYSTEMS["kafka-streams"]
    declaration = Declaration(system, frozenset(system.ops), variants=variants)
    menu, source = system.cases.menu(system.ops, "windows"), random.Random(SEED)
    for _ in range(cases):
        case = make_case(source.randint, declaration, menu, None, STEPS).case
        yield case.config, case.steps


def generate_released_runs() -> Iterator[Run]:
    """Generate cases under the variants of the releases."""
    system = SYSTEMS["kafka-streams"]
    declaration = Declaration(system, frozenset(system.ops), variants=RELEASED)
    source = random.Random(SEED)
    for number in range(RELEASED_CASES):
        level = ("cache", "store", "views", "store")[number % 4]
        case = make_case(
            source.randint,
            declaration,
            system.cases.menu([name for name in system.ops_up_to(level) if name not in system.model.guiding], level),
            None,
            STEPS,
            workload=(
                workload.WorkloadProfile.NESTED,
                workload.WorkloadProfile.REENTRY,
                workload.WorkloadProfile.TINY_LIMITS,
            )[number % 3],
        ).case
        yield case.config, case.steps


def generate_default_runs(numbers: range) -> Iterator[Run]:
    """Generate random runs; some lower the limit while several namespaces hold entries, the last ones open views."""
    source = random.Random(SEED + numbers.start)
    guiding = SYSTEMS["kafka-streams"].model.guiding
    for number in numbers:
        traits = workload.WORKLOADS[list(workload.WorkloadProfile)[number % len(workload.WorkloadProfile)]]
        stores = number % 5 and source.choice(traits.stores)
        left_out = {"windows"} if number >= CASES else {"windows", "views"}
        left_out |= set() if stores else {"store", "views"}
        names = tuple(name for name in workload.WEIGHTS if workload.LEVEL_OF[name] not in left_out)
        names = names if number >= CASES + VIEW_CASES else tuple(name for name in names if name not in guiding)
        aim = workload.Aim(source.randint, traits, names, source.choice(traits.namespaces) if stores else 1, stores)
        config = Config(source.choice(traits.max_sizes), source.choice((8, 8, 1, 2, 0)))
        state = initial(config)
        events: list[Any] = []
        weighted = workload.menu(names)
        for _ in range(STEPS):
            lowers = number % 7 == 3 and source.random() < 0.2
            event = (
                ops.Resize(source.choice(LIMITS)) if lowers else generation.make_op(aim, source.choice(weighted), state)
            )
            events.append(event)
            state = step(state, event, config).state
        yield config, tuple(events)


# --- The cache of tests


def open_shared_cache(config: Any) -> Any:
    """Open the cache for several threads, of the reference or of the model under test."""
    model = current_model()
    return history.SharedReference(config) if model is None else model[SHARED](config)


# --- Short random runs of forwards that throw, and of windows that nobody hears

FAILING_RUNS, FAILING_STEPS = 120, 22
PLENTY_BYTES: Final = 1_000_000
ENTRY_BYTES: Final = 47
"""The size of an entry with a key and a value of one letter."""


def mix_failing_forwards(source: random.Random) -> Iterator[ops.Op]:
    """Let forwards of one store throw between forwards that write and delete the same few keys."""
    yield view_ops.StoreOpen("s", old_values=source.random() < 0.5, listens=source.random() < 0.8)
    for _ in range(3):
        for key in source.sample("abcd", 2):
            steps = tuple(_failing_step(source) for _ in range(source.randint(1, 3)))
            yield source.choice((ops.OnForward("s", key, steps), view_ops.FailForward("s", key, 1)))
        yield from (_failing_step(source) for _ in range(source.randint(2, 6)))
        yield ops.StoreAll("s")
        yield view_ops.FailForward("s", source.choice("abcd"), source.choice((1, 1, 2)))
        yield source.choice((ops.StoreFlush("s"), ops.Flush("s"), ops.Evict("s"), ops.Resize(2 * ENTRY_BYTES)))
        yield from (ops.All("s"), ops.StoreInner("s"))
        yield from (ops.Evict("s") for _ in range(source.choice((0, 2, 4))))
    yield from (ops.StoreFlush("s"), ops.StoreInner("s"), ops.Metrics("s"), ops.Usage())


def _failing_step(source: random.Random) -> ops.Op:
    """Choose a write, a deletion or a read of a store, or of the namespace below it."""
    key, value = source.choice("abcd"), source.choice(("1", "2", None))
    steps: Sequence[ops.Op] = (
        ops.StorePut("s", key, value),
        ops.StorePut("s", key, value),
        ops.StoreDelete("s", key),
        ops.Delete("s", key),
        ops.Put("s", key, value, source.random() < 0.7),
        ops.StoreGet("s", key),
    )
    return source.choice(steps)


def mix_unheard_windows(source: random.Random) -> Iterator[ops.Op]:
    """Write windows of two keys, one named like a window, out of order, to a store that often nobody listens to."""
    below, interval = source.choice([*view_ops.Underlying]), source.choice((10, 60))
    settings = {"below": below, "retention": source.choice((20, 60)), "segment_interval": interval}
    yield view_ops.StoreOpen("s", kind=view_ops.StoreKind.WINDOW, listens=source.random() < 0.4, **settings)
    for _ in range(FAILING_STEPS):
        start, key, value = source.randrange(0, 120, 10), source.choice(("a", "a@0")), source.choice(("1", None))
        choices: Sequence[ops.Op] = (
            view_ops.WindowPut("s", key, start, value),
            view_ops.WindowPut("s", key, start, value),
            view_ops.WindowGet("s", key, start),
            source.choice((ops.StoreFlush("s"), ops.Evict("s"))),
        )
        yield source.choice(choices)
    yield from (ops.StoreFlush("s"), ops.StoreInner("s"), ops.Metrics("s"))
    yield view_ops.StoreOpen("t", kind=view_ops.StoreKind.SESSION, below=below)
    for start in source.sample((5, 10, 100), 3):  # sessions of one end, whose starts have other orders as texts
        yield view_ops.SessionPut("t", "a", start, 120, "1")
        if source.random() < 0.3:
            yield ops.StoreFlush("t")
    yield from (view_ops.SessionView("t", "a"), view_ops.SessionView("t", "a", backward=True), ops.StoreInner("t"))


def mix_tombstones(source: random.Random) -> Iterator[ops.Op]:
    """List a store of which some keys are cached, as values or as tombstones, between keys that are not."""
    yield from (ops.StorePut("s", key, "0") for key in "abcdef")
    yield from (ops.Evict("s") for _ in "abcdef")
    for _ in range(4):
        for key in source.sample("abcdef", 3):
            yield source.choice((ops.StorePut("s", key, "1"), ops.StoreDelete("s", key), ops.StoreDelete("s", key)))
        yield from (ops.StoreAll("s"), view_ops.StoreView("s", "b", "e", source.random() < 0.5))
        yield source.choice((ops.Evict("s"), ops.Evict("s"), ops.StoreFlush("s")))


def generate_failing_runs() -> Iterator[Run]:
    """Generate short runs of forwards that throw, windows and tombstones, every second one under other variants."""
    for number in range(FAILING_RUNS):
        source = random.Random(f"failing {number}")
        variants = choose_each_variant(configuration.Variants(), source) if number % 2 else configuration.Variants()
        limit = source.choice((PLENTY_BYTES, PLENTY_BYTES, 3 * ENTRY_BYTES))
        config = configuration.Config(limit, source.choice((2, 8)), variants)
        yield config, tuple(mix_failing_forwards(source))
        yield config, tuple(mix_unheard_windows(source))
        yield config, tuple(mix_tombstones(source))
