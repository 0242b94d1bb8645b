"""The second model of `pulsar-pip430`: bounded models paired with the TLA+ module RemovalQueueWorld.

`build_record` renders events as TLA+ records, which become constants of the module. `QueueRendering` renders states and
answers as the module prints them. `SECOND` lists the pairs and the claims.
"""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

from entrycache_evidence.pulsar_pip430 import bounded_models, tla_claims
from entrycache_evidence.pulsar_pip430.state_space import BoundedModel, Events, slot
from entrycache_evidence.tlc.evidence import ComparedModel, SecondModel
from entrycache_evidence.tlc.runner import Module, optional, render_constants, render_tla
from entrycache_reference.pulsar_pip430 import NAME, ops, outcomes
from entrycache_reference.pulsar_pip430.config import Config, Eviction
from entrycache_reference.pulsar_pip430.ops import Op
from entrycache_reference.pulsar_pip430.state import Counts, Slot, State, Step
from entrycache_reference.vocabulary import ABSENT, CacheName, Position


def list_events(scope: BoundedModel) -> tuple[ops.Op, ...]:
    """Return each event of a bounded model once: those that always happen, then those that depend on the state."""
    events = Events(scope)
    kinds = (events.gets, events.reads, events.expects, events.removes)
    inserts = (event for some in events.inserts.values() for event in some)
    return (*events.always, *inserts, *(event for kind in kinds for event in kind.values()))


def build_records(scope: BoundedModel) -> tuple[Mapping[str, Any], ...]:
    """Return the record of each event, in the same order."""
    always = len(Events(scope).always)
    return tuple({"always": at < always, **build_record(event)} for at, event in enumerate(list_events(scope)))


def place_of(event: Any) -> tuple[str, int, int]:
    """Return the place that an operation names."""
    return (event.cache, *event.pos)


def optional_argument(value: Any) -> tuple[Any, ...]:
    """Return an argument that may be absent or null as a sequence."""
    return optional(None if value is ABSENT else value)


def fraction(value: float) -> tuple[int, int]:
    """Return a watermark as a fraction of integers."""
    exact = Fraction(str(value))
    return exact.numerator, exact.denominator


def build_record(event: ops.Op) -> dict[str, Any]:
    """Build the record of an operation: its name, its caches and its arguments; `one` is the entry that it names."""
    cache = getattr(event, "cache", ABSENT)
    return {"op": event.name, "names": frozenset(optional_argument(cache)), **_arguments(event)}


def _arguments(event: ops.Op) -> dict[str, Any]:  # noqa: PLR0912 - a line an operation
    match event:
        case ops.Insert():
            return {"key": place_of(event), "size": event.size, "expected": optional_argument(event.expected_reads)}
        case ops.Get() | ops.MarkRead() | ops.ExpectRead() | ops.Exists():
            return {"key": place_of(event), "one": place_of(event)}
        case ops.GetRange():
            return {"cache": event.cache, "first": event.first, "last": event.last}
        case ops.RemoveRange():
            one = (event.cache, *event.first)
            bounds = {"first": event.first, "last": event.last, "inclusive": event.last_inclusive}
            return {"cache": event.cache, "one": one, **bounds}
        case ops.Usage():
            return {"of": optional_argument(event.cache)}
        case ops.Advance():
            return {"nanos": event.nanos}
        case ops.Expire():
            return {"older": optional_argument(event.older_than_nanos)}
        case ops.Evict():
            return {"bytes": event.bytes}
        case ops.Clear() | ops.RemoveCache():
            return {"cache": event.cache}
        case ops.InvalidateBefore():
            return {"cache": event.cache, "position": event.pos}
        case ops.InvalidateLedger():
            return {"cache": event.cache, "ledger": event.ledger}
        case ops.Configure():
            return _settings(event)
        case ops.Observe() | ops.Cycle() | ops.RunScheduled():
            return {}
    raise TypeError(f"{event.name} stands in no TLA+ module")


def _settings(event: ops.Configure) -> dict[str, Any]:
    watermark = event.watermark
    return {
        "max": optional_argument(event.max_size_bytes),
        "watermark": () if watermark is ABSENT else (fraction(watermark),),
        "ttl": optional_argument(event.ttl_nanos),
        "requeues": optional_argument(event.max_requeues),
        "extend": optional_argument(event.extend_recently_accessed),
    }


# --- States


@lru_cache(maxsize=4096)
def render_slot(slot: Slot, size: int, age: int, requeues: int, accessed: bool, count: int | None) -> str:
    """Render a live slot with its entry."""
    return render_tla(((slot.cache, *slot.pos), size, age, requeues, accessed, optional(count)))


class QueueRendering:
    """The mapping of states: ages and requeue counts saturate, and entries appear where they stand in the queue.

    An entry without a slot is rendered outside the queue, so one live slot for each entry is not assumed.
    """

    def __init__(self, scope: BoundedModel) -> None:
        self.scope = scope
        self.events: tuple[Op, ...] = list_events(scope)
        self.caches = tuple(sorted({key.cache for key in scope.keys}))

    def fresh(self, state: State) -> State:
        """Return the state without counters, which only grow."""
        return state._replace(counts=Counts())

    def state(self, state: State) -> str:
        """Render the open caches, the settings, the flag, the manager's bytes, and the queue from head to tail."""
        now = state.settings
        queue = f"<<{', '.join([self._slot(state, slot) for slot in state.queue])}>>"
        opened = tuple(name in state.caches for name in self.caches)
        limits = (now.max_size_bytes, fraction(now.watermark), now.ttl_nanos)
        settings = (*limits, now.max_requeues, now.extend_recently_accessed)
        before, amiss = render_tla((opened, *settings, state.is_scheduled, state.size_bytes)), self._unqueued(state)
        return f"{before[:-2]}, {queue}{', ' + render_tla(amiss) if amiss else ''}>>"

    def _slot(self, state: State, slot: Slot | None) -> str:
        if slot is None:
            return "<<>>"
        entry = state.caches[slot.cache].entries[slot.pos]
        age = min(state.now_nanos - entry.stamp_nanos, self.scope.oldest)
        requeues = min(entry.requeues, self.scope.config.max_requeues)
        return render_slot(slot, entry.size_bytes, age, requeues, entry.accessed, entry.expected_reads)

    def _unqueued(self, state: State) -> tuple[object, ...]:
        live = {slot for slot in state.queue if slot is not None}
        cached = {Slot(name, pos) for name, cache in state.caches.items() for pos in cache.entries}
        sums = sum(cache.size_bytes for cache in state.caches.values())
        return () if live == cached and sums == state.size_bytes else (tuple(sorted(cached - live)), sums)

    def label(self, number: int, step: Step) -> str:
        """Render the number of the event, its answer, and the inserted, evicted and cycle counts."""
        counts = step.state.counts
        cycles = counts.eviction_cycles
        return render_tla(
            (number, render_answer(step.outcome), counts.inserted_entries, counts.evicted_entries, cycles)
        )


def render_answer(outcome: object) -> object:
    """Return an outcome in the form of the TLA+ module."""
    match outcome:
        case outcomes.Refused():
            return outcome.error.value
        case outcomes.Inserted():
            return outcome.inserted
        case outcomes.Hit():
            return outcome.hit
        case outcomes.Existing():
            return outcome.exists
        case outcomes.Hits():
            return outcome.hits
        case outcomes.Removed() | outcomes.Used():
            return outcome.entries, outcome.bytes
        case outcomes.Counted():
            return optional(outcome.expected_reads)
        case _:
            return ()


# --- Bounded models

_A: Final = CacheName("a")

TRIGGER: Final = BoundedModel(
    "trigger, settings and invalidation",
    Config(max_size_bytes=4, watermark=0.5, ttl_nanos=1, max_requeues=1),
    (slot("a", 0, 0), slot("a", 1, 0)),
    (2,),
    (1,),
    (0, 1),
    2,
    (ABSENT,),
    (1,),
    (
        ops.Cycle(),
        ops.RunScheduled(),
        ops.Configure(max_size_bytes=2),
        ops.Configure(max_size_bytes=4, watermark=1),
        ops.Configure(watermark=0.5),
        ops.InvalidateBefore(_A, Position(1, 0)),
        ops.InvalidateLedger(_A, 1),
        ops.RemoveCache(_A),
    ),
    (ops.Configure(max_size_bytes=3, watermark=2), ops.Configure(max_size_bytes=0)),
)
"""A limit that is crossed, settings that change, and entries that leave by calls of the manager."""

MANUAL: Final = replace(
    TRIGGER,
    name="trigger, settings and invalidation, eviction manual",
    config=replace(TRIGGER.config, eviction=Eviction.MANUAL),
)
"""The same with the flag instead of the pass."""


def build_compared_model(scope: BoundedModel) -> ComparedModel:
    """Pair a bounded model with the TLA+ module that has the same constants."""
    rendering = QueueRendering(scope)
    settings = scope.config
    constants = {
        "Start": {
            "max": settings.max_size_bytes,
            "watermark": fraction(settings.watermark),
            "ttl": settings.ttl_nanos,
            "requeues": settings.max_requeues,
            "extend": settings.extend_recently_accessed,
        },
        "Eviction": settings.eviction.value,
        "Caches": rendering.caches,
        "Events": build_records(scope),
        "Slots": scope.slots,
        "Least": scope.counts[0],
        "Greatest": scope.counts[1],
        "Looks": scope.with_queries,
        "Oldest": scope.oldest,
        "Most": settings.max_requeues,
    }
    config = ("INIT Init", "NEXT Next", "VIEW View", "ACTION_CONSTRAINT Edge", "INVARIANT AlwaysSound")
    module = Module(NAME, "RemovalQueueWorld", render_constants(constants), config)
    return ComparedModel(scope, rendering, module)


SMALL: Final = replace(
    bounded_models.PAIR, name="two entries of one cache, one slot", expected=(ABSENT, 0, 2), counts=(-1, 2), slots=1
)
"""A model with few states, and every operation of the level."""

QUICK: Final = build_compared_model(SMALL)
"""The quickest model."""

CLOSED: Final = (
    build_compared_model(bounded_models.PAIR),
    build_compared_model(bounded_models.WITHOUT_EXPECTED_READS),
    build_compared_model(TRIGGER),
    build_compared_model(MANUAL),
)
"""The models that are explored completely."""


# --- The second model

SECOND: Final = SecondModel((QUICK, *CLOSED), (*tla_claims.TERMINATION_CLAIMS, *tla_claims.WRAPPER_CLAIMS))
