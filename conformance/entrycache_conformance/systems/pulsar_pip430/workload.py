"""The cases that a subject of `pulsar-pip430` gets: its limits, and the workload profiles.

A `WorkloadProfile` says which operations, places and configurations cases have, by its
`WorkloadParameters`. `WEIGHTS` say how often each operation comes, and `make_config`
draws a configuration within what the subject lets vary. The boundary values are limits, sizes and row lengths at which
implementations go wrong.

`Limits` are what a subject declares that it cannot take. `unsupported_reason` says why a subject cannot play
a case, and `cost_bound` how much playing it may cost.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from entrycache_conformance.systems import pulsar
from entrycache_conformance.systems.pulsar import make_places
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.system import Draw, bounded_field, choose, step_field
from entrycache_reference import rules, vocabulary
from entrycache_reference.pulsar_pip430 import ops
from entrycache_reference.pulsar_pip430.config import Config, Eviction, Invalidation, Storage
from entrycache_reference.pulsar_pip430.ops import LEVELS, OPS


@dataclass(frozen=True, slots=True)
class Limits(pulsar.Limits):
    """The limits of `pulsar-pip430`.

    With `lazy_expiry` entries leave when they are older than the time to live, without an `expire`. The runner sends
    one after each `advance` and `configure`, and does not compare its answer.

    Without `readd_members` a member of the heap container must not be added again. `heap_members` is the largest number
    of members of a heap container. Without `tail_ties`, ties at the foremost cursor are avoided: when it has left a tie
    or come to one, every tracked cursor moves before the next query, if only to its own position. A managed ledger then
    has at most three cursors. Without `short_answers` storage gives no read that has taken permits fewer entries than
    it asks for.
    """

    null_positions: bool = True
    readd_members: bool = True
    heap_members: int | None = bounded_field(1, None)
    tail_ties: bool = True
    short_answers: bool = True
    max_requeues: int | None = bounded_field(0, None)
    lazy_expiry: bool = step_field(False)

    def find_contradiction(self, declaration: Any) -> str:
        """Return two parts of a declaration that cannot both be true, such as lazy expiry without an `expire`."""
        owes = self.lazy_expiry and "expire" not in declaration.ops and declaration.ops & {"advance", "configure"}
        missing = "limits.lazy_expiry is true, and ops does not name 'expire'" if owes else ""
        return missing or super(Limits, self).find_contradiction(declaration)

    @property
    def arguments(self) -> Mapping[str, Mapping[str, str]]:
        """A cache that expires entries by itself knows one age."""
        return {"expire": {"older_than_nanos": "never"}} if self.lazy_expiry else {}

    @property
    def uncompared(self) -> Mapping[str, frozenset[str]]:
        """A cache that expires entries by itself may not know how many those were."""
        return {"expire": frozenset({"entries", "bytes"})} if self.lazy_expiry else {}

    @property
    def hides_rules(self) -> bool:
        """True without null positions: their rules can hardly fire."""
        return not self.null_positions

    def lifted(self) -> Limits:
        """Return the limits lifted for a comparison: ties at the tail make wrong ranks, but still an answer."""
        return dataclasses.replace(self, max_steps=None, tail_ties=True)

    def takes_answers(self, config: Config) -> bool:
        """Return whether storage may give fewer entries than it is asked for."""
        return self.short_answers or config.max_reads_in_flight_bytes == 0


OPS_BELOW_TRIGGER: Final = frozenset(op.name for op in OPS if op.level in {"range", "queue"})
"""The operations of the levels at which no insert crosses the trigger."""


def unsupported_reason(declaration: Declaration, config: Config, steps: Sequence[Any]) -> str:
    """Return the reason why the subject cannot play the case; empty if it can."""
    trigger = int(config.max_size_bytes * 0.98)
    inserted = sum(max(0, step.size) for step in steps if step.name == "insert")
    if config.max_size_bytes and inserted > trigger and not declaration.ops - OPS_BELOW_TRIGGER:
        return (
            f"the case inserts {inserted} bytes, above the trigger of {trigger}: it is one of level manager, and "
            "the subject offers no operation of that level; "
            "expected max_size_bytes 0, or a trigger not below the sizes inserted"
        )
    if config.storage is Storage.HELD and config.evict_by_mark_deleted:
        return "the case holds storage back and tracks cursors where they acknowledge; expected one of both"
    if config.invalidation is Invalidation.MANUAL and "run_invalidations" not in declaration.ops:
        return "the case holds invalidations back, and the subject does not offer run_invalidations, which runs them"
    short = [index for index, op in enumerate(steps) if isinstance(op, ops.StorageAnswer) and type(op.answer) is int]
    if config.storage is Storage.HELD and short and not declaration.limits.takes_answers(config):
        return f"the subject takes no short answers where reads take permits, and step {short[0]} of the case is one"
    nulls = [index for index, op in enumerate(steps) if getattr(op, "pos", op) is None]
    if nulls and not declaration.limits.null_positions and "limits.null_positions" not in declaration.findings:
        return f"the subject takes no null positions, and step {nulls[0]} of the case has one"
    return ""


MAX_LISTED_POSITIONS: Final = 1_000
"""The number of positions of one read that are counted one by one."""


def cost_bound(config: Config, steps: Sequence[Any]) -> int:
    """Return how many entries the reference copies at most.

    Each step copies the cache once, and a read once per position. In addition a pass puts entries with a count back as
    often as the requeue budget allows.
    """
    named: set[tuple[vocabulary.CacheName, vocabulary.Position]] = set()
    others = counted = copied = 0
    budgets = [config.max_requeues]
    for op in steps:
        times = 1
        if isinstance(op, ops.Insert):
            named.add((op.cache, op.pos))
            counted += isinstance(op.expected_reads, int) and op.expected_reads > 0
        elif isinstance(op, ops.Read):
            times = max(1, op.last.entry - op.first.entry + 1)
            counted += times if op.expected_reads > 0 else 0
            if times > MAX_LISTED_POSITIONS:
                others += times
            else:
                named |= {(op.cache, op.first._replace(entry=op.first.entry + at)) for at in range(times)}
        elif isinstance(op, ops.Append):
            named.add((op.cache, op.pos))
            counted += 1
        elif isinstance(op, ops.CursorRead | ops.ReplayRead | ops.ReadBegin | ops.ReplayBegin | ops.StorageAnswer):
            times = max(1, len(named))
            counted += times
        elif isinstance(op, ops.ExpectRead):
            counted += 1
        elif isinstance(op, ops.Configure) and isinstance(op.max_requeues, int):
            budgets.append(op.max_requeues)
        copied += times * (len(named) + others + 1)
    return copied + counted * max(0, *budgets) * (len(named) + others)


BOUNDARY_LIMITS: Final = (
    *((100, 0.58), (2**33, 0.5), (50, 0.58), (90, 0.7), (2**33, 0.9), (100, 0.57), (170, 0.7), (100, 0.29)),
    *((180, 0.7), (2**24, 0.9)),
)
"""Limits with their watermarks. The small products lie just below a whole number as IEEE products, but at it in
decimal.
"""

LIMITS_NOT_REACHED: Final = (2**33, 134_217_728, 2**40)
"""Limits below whose trigger the bytes of a few entries leave the integers of 32 bits."""

BOUNDARY_SIZES: Final = (1, 255, 256, 2**31 - 1, 65_535, 65_536, 2**24 + 1, 2**31 - 1, 0, -1, 128, 32_768, 2**30)

ROW_LENGTHS: Final = (8, 9, 16, 17, 18, 32, 33, 64, 65)
"""The lengths of rows of entries: the sizes of common tables inside implementations, and one more."""


STEPS_MAX: Final = 60
HOLDS: Final = tuple(vocabulary.HoldName(name) for name in ("h", "i", "j"))

REQUEST_NAMES: Final = ("r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7")


class LedgerNames(NamedTuple):
    """The names and ledgers of the levels `ledger`, `limits` and `pending` in one case.

    `fetched` are ledgers, each with the entry next to which its reads begin. Managed ledgers begin above
    `ledgers_before`. The cursors of each are fewer than the heap container of a release can keep in order.
    """

    caches: tuple[vocabulary.CacheName, ...] = (vocabulary.CacheName("m"), vocabulary.CacheName("n"))
    cursors: tuple[vocabulary.CursorName, ...] = tuple(map(vocabulary.CursorName, ("s0", "s1", "s2", "s3")))
    requests: tuple[vocabulary.RequestName, ...] = tuple(map(vocabulary.RequestName, REQUEST_NAMES))
    reads: tuple[vocabulary.ReadName, ...] = tuple(map(vocabulary.ReadName, ("f0", "f1", "f2", "f3", "f4", "f5")))
    fetched: tuple[tuple[int, int], ...] = ((1, 0), (1, 0), (2, 0))
    ledgers_before: int = 0


class WorkloadParameters(NamedTuple):
    """The parameters of a profile. Every tuple is a menu whose first item is the simplest.

    `fresh` are the places that operations use. `cursor_counts` are numbers of cursor names. `patience` makes cases
    longer before they end by chance. `often` multiplies the weight of operations. `flood` is the greatest number of
    entries in a row, with counts and limits to match. `has_boundary_values` gives a profile names, numbers, limits and
    rows of steps of its own.

    A profile with `levels` belongs to these alone, and only campaigns play it. `settings` replace the menus of
    settings, and of 20 appends `rollovers` begin a new ledger.
    """

    fresh: tuple[tuple[vocabulary.CacheName, vocabulary.Position], ...]
    cursor_counts: tuple[int, ...] = (3, 2, 4, 3, 6, 5, 12, 40)
    steps_max: int = STEPS_MAX
    patience: int = 1
    often: Mapping[str, int] = MappingProxyType({})
    is_extreme: bool = False
    widths: tuple[int, ...] = (0, 1, 2, 3, 4)
    cursor_caches: int = 3
    flood: int = 0
    has_boundary_values: bool = False
    levels: tuple[str, ...] = ()
    settings: Mapping[str, tuple[Any, ...]] = MappingProxyType({})
    rollovers: int = 4

    @property
    def caches(self) -> tuple[vocabulary.CacheName, ...]:
        """The names of caches, in order."""
        return tuple(dict.fromkeys(cache for cache, _ in self.fresh))


class WorkloadProfile(Enum):
    """The workload profiles."""

    DEFAULT = "default"
    SMALL_KEYS = "small-keys"
    CURSORS_MANY = "cursors-many"
    EXTREME_SETTINGS = "extreme-settings"
    LONG_RUNS = "long-runs"
    FILLS_AND_HOLDS = "fills-and-holds"
    GREAT = "great"
    BOUNDARY = "odd"
    ROLLOVERS = "rollovers"
    SEEKS_IN_READS = "seeks-in-reads"
    LEDGER_DELETES = "ledger-deletes"
    PERMITS_NEAR_LIMIT = "permits-near-limit"


WORKLOADS: Final = {
    WorkloadProfile.DEFAULT: WorkloadParameters(make_places(3, 2, 4)),
    WorkloadProfile.SMALL_KEYS: WorkloadParameters(make_places(1, 1, 2), (2, 1, 3), widths=(0, 1, 2)),
    WorkloadProfile.CURSORS_MANY: WorkloadParameters(
        make_places(2, 2, 4),
        (6, 8, 10, 14, 20, 28, 40),
        steps_max=240,
        patience=6,
        often={"cursor_add": 5, "cursor_move": 5, "cursor_remove": 5, "cursor_rank": 3, "slowest": 2},
        cursor_caches=1,
    ),
    WorkloadProfile.EXTREME_SETTINGS: WorkloadParameters(make_places(2, 2, 3), is_extreme=True),
    WorkloadProfile.LONG_RUNS: WorkloadParameters(make_places(3, 2, 6), (4, 8, 16), steps_max=5_000, patience=100),
    WorkloadProfile.FILLS_AND_HOLDS: WorkloadParameters(
        make_places(2, 1, 6),
        steps_max=120,
        patience=2,
        often={"read": 5, "read_one": 3, "release": 5, "get": 2, "mark_read": 2},
        widths=(0, 1, 2, 3, 4, 6, 10),
    ),
    WorkloadProfile.GREAT: WorkloadParameters(
        make_places(2, 1, 6),
        (30, 3),
        steps_max=400,
        patience=6,
        often={"insert": 3, "evict": 3, "expire": 2, "get_range": 2, "read": 3, "remove_range": 2},
        widths=(40, 0, 130, 9, 18),
        flood=150,
    ),
    WorkloadProfile.BOUNDARY: WorkloadParameters(
        make_places(4, 2, 3), (3, 20, 2), steps_max=120, widths=(0, 1, 2, 16, 17), has_boundary_values=True
    ),
    WorkloadProfile.ROLLOVERS: WorkloadParameters(
        make_places(3, 2, 4),
        often={"append": 3, "cursor_open": 3, "cursor_read": 4, "read_begin": 2, "ack": 2, "storage_answer": 2},
        levels=("ledger", "inflight", "limits"),
        rollovers=8,
    ),
    WorkloadProfile.SEEKS_IN_READS: WorkloadParameters(
        make_places(3, 2, 4),
        often={"cursor_open": 2, "cursor_seek": 20, "cursor_reset": 20, "mark_delete": 20, "ack": 8},
        levels=("inflight", "limits"),
        settings={"storage": (Storage.HELD,), "max_size_bytes": (1_000, 100)},
    ),
    WorkloadProfile.LEDGER_DELETES: WorkloadParameters(
        make_places(3, 2, 4),
        often={"append": 3, "delete_ledger": 20, "cursor_open": 2, "cursor_read": 2, "storage_answer": 2, "release": 2},
        levels=("ledger", "inflight", "limits"),
        settings={"evict_by_expected_reads": (True, True, True, False), "max_size_bytes": (1_000, 100)},
        rollovers=8,
    ),
    WorkloadProfile.PERMITS_NEAR_LIMIT: WorkloadParameters(
        make_places(3, 2, 4),
        often={"cursor_open": 4, "read_begin": 2, "release": 2, "limiter": 2},
        levels=("limits",),
        settings={
            "storage": (Storage.HELD,),
            "max_reads_in_flight_bytes": (200, 140, 260, 330, 400, 75),
            "acquire_queue": (50_000, 3, 1),
        },
    ),
}
"""The parameters of each profile."""


WEIGHTS: Final[dict[str, int]] = {
    "insert": 9,
    "get": 4,
    "get_range": 2,
    "exists": 1,
    "remove_range": 2,
    "clear": 1,
    "usage": 2,
    "observe": 2,
    "advance": 4,
    "expire": 5,
    "evict": 4,
    "mark_read": 5,
    "expect_read": 3,
    "cycle": 4,
    "run_scheduled": 4,
    "configure": 4,
    "invalidate_before": 2,
    "invalidate_ledger": 2,
    "remove_cache": 1,
    "metrics": 3,
    "read": 8,
    "read_one": 4,
    "release": 6,
    "cursor_add": 6,
    "cursor_move": 7,
    "cursor_remove": 4,
    "cursor_rank": 5,
    "slowest": 3,
    "cursors": 1,
    "should_cache": 4,
    "append": 10,
    "cursor_open": 5,
    "cursor_read": 9,
    "cursor_seek": 2,
    "cursor_reset": 2,
    "mark_delete": 2,
    "ack": 6,
    "activate": 2,
    "deactivate": 2,
    "cursor_close": 1,
    "replay_add": 2,
    "replay_read": 4,
    "delete_ledger": 1,
    "check_backlogs": 2,
    "run_invalidations": 2,
    "cursor_state": 3,
    "acquire": 9,
    "give_back": 7,
    "limiter": 3,
    "fetch": 9,
    "read_begin": 8,
    "replay_begin": 3,
    "storage_answer": 9,
}

OWN_LEVEL_FACTOR: Final = {
    **{"range": 1, "queue": 1, "manager": 2, "reads": 2, "cursors": 3, "ledger": 3},
    **{"limits": 3, "pending": 3, "inflight": 5},
}
"""The factors by which operations of a level come more often in cases of that level: about half of all steps."""

LEVEL_OF: Final = {op.name: op.level for op in OPS}
PREPARING_OPS: Final = frozenset({"insert", "get", "advance", "configure", "observe"})
"""Operations that give the others of every level something to do."""

OPS_OF_CURSORS: Final = PREPARING_OPS | {"cursor_rank", "slowest", "usage"}
"""Operations that give managed ledgers something to do, or show how their cursors stand."""

OPS_OF_FLIGHT: Final = frozenset({"read_begin", "replay_begin", "storage_answer"})
"""Operations that give requests for permits something to do, where a subject has them."""

OPS_OF_READERS: Final = frozenset(
    "append cursor_open cursor_seek mark_delete ack activate deactivate cursor_state release replay_add observe "
    "delete_ledger cursor_close cursor_reset run_invalidations metrics advance cycle evict".split()
)
"""Operations that give reads in flight something to do."""

VARIANT_RULES: Final = frozenset(
    {rules.Rule.INSERT_7, rules.Rule.INSERT_8, rules.Rule.READ_13, rules.Rule.COUNT_8, rules.Rule.REQUEUE_9}
)
"""Rules about a variant and not about the default behaviour."""


def menu(names: Iterable[str], level: str | None = None) -> tuple[str, ...]:
    """Return the operations, each as often as its weight says; `insert` comes first."""
    wanted = frozenset(names)
    return tuple(
        name
        for name, weight in WEIGHTS.items()
        if name in wanted
        for _ in range(weight * (OWN_LEVEL_FACTOR[LEVEL_OF[name]] if LEVEL_OF[name] == level else 1))
    )


def levels_of(menu: Iterable[str]) -> set[str]:
    """Return the levels that have an operation in the menu; answers of storage belong to fetches if there are such."""
    names = set(menu) - {"observe"}
    names -= set() if names & {"fetch", "read_begin", "replay_begin"} else {"storage_answer"}
    levels = {LEVEL_OF[name] for name in names} or {LEVELS[0]}
    return levels - {"inflight"} if "fetch" in names and "read_begin" not in names else levels


def last_level(menu: Iterable[str]) -> str:
    """Return the last level that has an operation in the menu."""
    return max(levels_of(menu), key=LEVELS.index)


def own_menu(whole: Sequence[str]) -> tuple[str, ...]:
    """Return the operations of a menu's last level, with those that they need."""
    level = last_level(whole)
    own = {"inflight": OPS_OF_READERS, "ledger": OPS_OF_CURSORS}.get(level, PREPARING_OPS)
    if level == "limits":
        own = OPS_OF_READERS | OPS_OF_FLIGHT if "read_begin" in whole else frozenset({"advance"})
    return tuple(name for name in whole if LEVEL_OF[name] == level or name in own)


Menu = dict[str, tuple[Any, ...]]

QUEUE_CONFIGS: Final[Menu] = {
    "max_requeues": (5, 2, 1, 0, 3),
    "extend_recently_accessed": (True, False),
    "ttl_nanos": (1_000_000_000, 5, 1, 0, 20),
    "watermark": (0.9, 0.5, 1.0, 0.0),
}
"""Settings that act below the trigger."""

TRIGGER_CONFIGS: Final[Menu] = {
    "max_size_bytes": (100, 50, 10, 20, 11, 33, 101, 51),
    "watermark": (0.9, 0.5, 0.0, 0.98, 0.99, 1.0, 0.97),
    "eviction": (Eviction.INLINE, Eviction.MANUAL),
}
"""Small limits, so that a few entries cross them, and targets below, at and above the trigger."""

LARGE_LIMITS: Final = (3_001, 9_000, 20_000)
"""Limits that only hundreds of entries cross."""

LEAST_LIMIT: Final = 1
"""The least limit under which anything is cached."""

READ_CONFIGS: Final[Menu] = {"storage_entry_size": (10, 1, 3, 25, 100, 49)}

CURSOR_CONFIGS: Final[Menu] = {
    "grace_millis": (None, 0, None, 1, 2, 3),
    "ttl_nanos": (1_000_000_000, 500_000, 1_250_000, 499_999, 5, 250_000_000_000_000),
    "evict_by_expected_reads": (True, False),
}

LEDGER_CONFIGS: Final[Menu] = {
    "evict_by_expected_reads": (True, False),
    "evict_by_mark_deleted": (False, True),
    "min_backlog_cursors": (0, 1, 2),
    "min_backlog_entries": (1, 0, 2, 3),
    "max_backlog_between": (1, 0, 2, 5),
    "invalidation": (Invalidation.AT_ONCE, Invalidation.MANUAL, Invalidation.AT_ONCE),
}
"""Settings of managed ledgers; backlogs of generated cases are short."""

INFLIGHT_CONFIGS: Final[Menu] = {
    "storage": (Storage.HELD, Storage.HELD, Storage.HELD, Storage.AT_ONCE),
    "max_size_bytes": (100, 50, 1_000, 1_000, 20, 0),
    "grace_millis": (None, 0),
}
"""Settings of reads in flight: storage is mostly held."""

LIMIT_CONFIGS: Final[Menu] = {
    "max_reads_in_flight_bytes": (10, 1, 7, 100, 0),
    "acquire_timeout_millis": (2, 1, 0, 3),
    "acquire_queue": (3, 1, 2, 50_000),
}
"""Settings of the limiter: few permits, short queues, and waits of a few milliseconds."""

RANGE_LIMITS: Final = (150, 300, 1, 80, 600, 2_000, 12_000, 25_000, 0)
"""Limits for reads by cursors: an entry of them takes at least 65 permits, and one of unknown size 10,304."""

BOUNDARY_CONFIGS: Final[Menu] = {
    "ttl_nanos": (1_000_000_000, 2**32, 2**31, 2**32 + 1, 256, 65_536, 0),
    "max_requeues": (5, 1, 256, 0, 2),
    "storage_entry_size": (100, 256 + 2, 65_536 + 3, 10, 1),
    "grace_millis": (256 + 2, None, 65_536 + 2, 256 + 2, 2, 0),
    "evict_by_expected_reads": (True, True, True, False),
    "max_reads_in_flight_bytes": (2**32 + 9, 2**31 + 5, 65_536 + 7, 256 + 7, 10),
    "acquire_timeout_millis": (256 + 2, 65_536 + 2, 2**31 + 2, 2, 0),
}
"""Settings that are another number in a shorter integer."""

BUDGET_MAX: Final = 60
"""The largest requeue budget of generated cases; an unbounded pass would not end in a lifetime."""

EXTREME_CONFIGS: Final[Menu] = {
    "max_size_bytes": (1, 2, 3, 100, 1_000_000),
    "watermark": (0.0, 1.0, 0.999999, 1e-9, 0.5),
    "ttl_nanos": (0, vocabulary.INTEGER_MAX, 1, 10**18 // 1_000),
    "max_requeues": (0, BUDGET_MAX, 1),
    "storage_entry_size": (1, 2, 1_000),
    "grace_millis": (0, None, vocabulary.COUNT_MAX, 1),
}


def make_config(draw: Draw, declaration: Declaration, menu: tuple[str, ...], traits: WorkloadParameters) -> Config:
    """Draw a configuration for cases of these operations."""
    base: Config = declaration.base_config()
    levels = levels_of(menu)
    crosses = bool(levels - {"range", "queue"})
    options = {**QUEUE_CONFIGS, "max_size_bytes": (base.max_size_bytes,) * 11 + (0,)}
    if crosses:
        options |= TRIGGER_CONFIGS
        options["max_size_bytes"] += (base.max_size_bytes, base.max_size_bytes, 0)
    if "reads" in levels:
        options |= READ_CONFIGS
        options["max_size_bytes"] += (LEAST_LIMIT,) if crosses else ()
    if "cursors" in levels:
        options |= CURSOR_CONFIGS
        options["ttl_nanos"] += (1, 0, 20)
    for level, more in (("ledger", LEDGER_CONFIGS), ("inflight", INFLIGHT_CONFIGS), ("limits", LIMIT_CONFIGS)):
        options |= more if level in levels else {}
    if traits.flood and crosses:
        options["max_size_bytes"] = (base.max_size_bytes, *LARGE_LIMITS)
    if traits.is_extreme:
        kept = {"max_size_bytes"} if not crosses else set()
        options |= {key: values for key, values in EXTREME_CONFIGS.items() if key not in kept}
    if traits.has_boundary_values:
        options |= {key: values for key, values in BOUNDARY_CONFIGS.items() if key in options}
    options |= {key: values for key, values in traits.settings.items() if key in options}
    changes = {key: choose(draw, values) for key, values in options.items() if declaration.varies(key)}
    if "max_requeues" in changes and declaration.limits.max_requeues is not None:
        changes["max_requeues"] = min(declaration.limits.max_requeues, changes["max_requeues"])
    if "storage_entry_size" in changes:
        storage_size = declaration.limits.entry_size or changes["storage_entry_size"]
        changes["storage_entry_size"] = max(1, min(declaration.limits.max_size, storage_size))
    if traits.has_boundary_values:
        changes |= _boundary_limits(draw, changes, crosses)
    if changes.get("storage") is Storage.HELD and "max_reads_in_flight_bytes" in changes:
        changes["max_reads_in_flight_bytes"] = choose(
            draw, traits.settings.get("max_reads_in_flight_bytes", RANGE_LIMITS)
        )
    if "max_size_bytes" in changes:
        changes["max_size_bytes"] = declaration.limits.clamp(changes["max_size_bytes"])
    return within_schema(dataclasses.replace(base, **changes), declaration)


def _boundary_limits(draw: Draw, changes: Mapping[str, Any], crosses: bool) -> dict[str, Any]:
    """Return a limit at which implementations go wrong, if limits vary and the drawn one is not 0 below the trigger."""
    if crosses and changes.keys() >= {"max_size_bytes", "watermark"}:
        limit, watermark = choose(draw, BOUNDARY_LIMITS)
        return {"max_size_bytes": limit, "watermark": watermark}
    return {"max_size_bytes": choose(draw, LIMITS_NOT_REACHED)} if not crosses and changes.get("max_size_bytes") else {}


def within_schema(config: Config, declaration: Declaration) -> Config:
    """Return the configuration with storage held only if cursors are tracked where they read.

    Invalidations are held only if the subject has the operation that runs them.
    """
    if "run_invalidations" not in declaration.ops:
        config = dataclasses.replace(config, invalidation=Invalidation.AT_ONCE)
    if config.storage is Storage.AT_ONCE or not config.evict_by_mark_deleted:
        return config
    key = "evict_by_mark_deleted" if declaration.varies("evict_by_mark_deleted") else "storage"
    return dataclasses.replace(config, **{key: getattr(Config(), key)})
