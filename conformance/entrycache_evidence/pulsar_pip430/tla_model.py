"""The second model of `pulsar-pip430`: bounded models paired with the TLA+ module RemovalQueueWorld, and its claims.

`build_record` renders events as TLA+ records, which become constants of the module. `QueueRendering` renders states
and answers as the module prints them. `SECOND` lists the pairs and the claims. Each claim is a module in which TLC
finds no error, and the same module with a seeded error that it finds. The claims about termination say which passes
and lives end, those about reads which reads and requests for permits do. Those about the wrapper take out one guard
each, and TLC finds the race.
"""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final, NamedTuple

from entrycache_evidence.pulsar_pip430 import bounded_models
from entrycache_evidence.pulsar_pip430.state_space import BoundedModel, Events, slot
from entrycache_evidence.tlc.evidence import Claim, ComparedModel, SecondModel
from entrycache_evidence.tlc.runner import Module, optional, render_constants, render_tla
from entrycache_reference.pulsar_pip430 import NAME, ops, outcomes
from entrycache_reference.pulsar_pip430.config import Config, Eviction
from entrycache_reference.pulsar_pip430.ops import Op
from entrycache_reference.pulsar_pip430.state import Counts, Slot, State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT, CacheName, Position

BUDGET: Final = 2
TTL: Final = 1
KEYS: Final = (("a", 0, 0), ("a", 0, 1))
COMMON: Final[dict[str, Any]] = {
    "Start": {"max": 1000, "watermark": (9, 10), "ttl": TTL, "requeues": BUDGET, "extend": True},
    "Eviction": "inline",
    "Offers": tuple({"key": key, "size": 1, "expected": (count,)} for key, count in zip(KEYS, (1, 0), strict=True)),
    "Need": 2,
}
"""Two entries, the first of which expects a read that never comes."""

TIME: Final = frozenset({"time"})
"""The kinds of pass, if only time passes run."""

NO_BUDGET: Final = ("Requeued(t, entry)", "[entry EXCEPT !.stamp = t.now, !.accessed = FALSE]")
"""A requeue that does not count."""


def build_liveness(holds: str, *changed: tuple[str, str], **given: Any) -> Module:
    """Build the module of liveness for one property."""
    own = {"Kinds": frozenset({"time", "size"}), "Reads": frozenset(KEYS), "ReadsInPass": False}
    own |= {"Oldest": TTL + 1, "Most": BUDGET}
    return Module(
        NAME,
        "Liveness",
        (*render_constants({**COMMON, **own, **given}), *changed),
        ("SPECIFICATION Spec", f"PROPERTY {holds}"),
    )


def build_ages(**given: Any) -> Module:
    """Build the module of ages."""
    own = {"Interval": 2, "Reads": frozenset(), "Slack": 0}
    config = ("INIT Init", "NEXT Next", "INVARIANT AgesAreBounded")
    return Module(NAME, "AgeBound", render_constants({**COMMON, **own, **given}), config)


TERMINATION_CLAIMS: Final = (
    Claim(
        Rule.LIVENESS_1,
        "a pass ends, if nobody reads while it is under way",
        build_liveness("PassEnds"),
        "readers mark entries while a size pass walks",
        build_liveness("PassEnds", ReadsInPass=True),
        goes_on=True,
    ),
    Claim(
        Rule.LIVENESS_1,
        "a time pass ends, whoever reads while it is under way",
        build_liveness("PassEnds", Kinds=TIME, ReadsInPass=True),
        "it is a size pass",
        build_liveness("PassEnds", ReadsInPass=True),
        goes_on=True,
    ),
    Claim(
        Rule.REQUEUE_3,
        "an entry that is no longer read leaves, if time and time passes go on, though a read is expected",
        build_liveness("UnreadLeaves", Kinds=TIME),
        "a requeue uses up nothing",
        build_liveness("UnreadLeaves", NO_BUDGET, Kinds=TIME),
        goes_on=True,
    ),
    Claim(
        Rule.REQUEUE_1,
        "every entry leaves where nobody reads, if time and time passes go on",
        build_liveness("EveryoneLeaves", Reads=frozenset()),
        "an entry is read between any two passes",
        build_liveness("EveryoneLeaves"),
        goes_on=True,
    ),
    Claim(
        Rule.REQUEUE_6,
        f"no unread entry is older than (max_requeues + 1) * (ttl + interval of passes), for {BUDGET}, {TTL} and 2",
        build_ages(),
        "the bound is claimed one tick lower",
        build_ages(Slack=1),
    ),
    Claim(
        Rule.REQUEUE_5,
        f"that bound holds though size passes requeue too, for {BUDGET}, {TTL} and 2",
        build_ages(),
        "entries are read",
        build_ages(Reads=frozenset(KEYS)),
    ),
)
"""The claims about termination, under the fairness that the module states."""


# --- Reads in flight and their permits

READS: Final[Mapping[str, Any]] = {
    "Readers": frozenset({"a", "b"}),
    "Length": 2,
    "Answers": frozenset({"all", "fail", "short"}),
    "Limit": 2,
    "Most": 2,
    "Timeout": 0,
}
"""Two readers of a ledger with two entries, and two permits; no request times out."""

CROWD: Final[Mapping[str, Any]] = {"Readers": frozenset({"a", "b", "c"}), "Answers": frozenset({"all"})}
"""Three readers, so that two of them can go on while one waits; storage gives all that it is asked for."""

ASKER_ALONE: Final = ("Delivered(ask)", "<<Head(ask.waiting)>>")
"""The operator by which only the reader that asked gets an answer."""


def build_reads(specification: str, holds: str, *changed: tuple[str, str], **given: Any) -> Module:
    """Build the module of reads in flight for an invariant or a property under a specification."""
    constants = (*render_constants({**READS, **given}), *changed)
    return Module(NAME, "ReadsInFlight", constants, (f"SPECIFICATION {specification}", holds))


def build_reads_claim(
    rule: Rule, what: str, statement: tuple[str, str], error: str, *changed: tuple[str, str], **given: Any
) -> Claim:
    """Build the claim of a statement, a specification and what holds under it; with operators changed it is refuted."""
    refuted = build_reads(*statement, *changed, **given)
    return Claim(rule, what, build_reads(*statement, **given), error, refuted, statement[1].startswith("PROPERTY"))


READ_CLAIMS: Final = (
    build_reads_claim(
        Rule.INFLIGHT_13,
        "a read ends, if storage goes on to answer what it waits for, with all, some or an error",
        ("Answering", "PROPERTY ReadEnds"),
        "an answer is given only to the reader that asked",
        ASKER_ALONE,
    ),
    build_reads_claim(
        Rule.INFLIGHT_13,
        "a read that has not ended waits for an open ask",
        ("Answering", "INVARIANT EachReadWaits"),
        "an answer is given only to the reader that asked",
        ASKER_ALONE,
    ),
    build_reads_claim(
        Rule.LIMIT_7,
        "the free permits are not below 0",
        ("Answering", "INVARIANT PermitsAreFree"),
        "a request is granted when any permit is free",
        ("Fits(t, r)", "Free(t) > 0"),
    ),
    build_reads_claim(
        Rule.INFLIGHT_2,
        "no two joinable asks overlap",
        ("Answering", "INVARIANT JoinableAsksAreApart"),
        "a read joins no ask",
        ("Joins(ask)", "FALSE"),
    ),
    build_reads_claim(
        Rule.LIMIT_5,
        "a request stops waiting without a time-out, if storage goes on to answer and readers to release",
        ("Releasing", "PROPERTY WaitEnds"),
        "a read that fails keeps its permits",
        ("Failed(t, r)", '[t EXCEPT !.phase[r] = "lost"]'),
    ),
    build_reads_claim(
        Rule.LIMIT_5,
        "the head of the waiting requests never fits",
        ("Answering", "INVARIANT HeadDoesNotFit"),
        "nobody is served when entries are released",
        ("Released(t, r)", "Idle(t, r)"),
    ),
    build_reads_claim(
        Rule.LIMIT_2,
        "a request stops waiting without a time-out, whoever else reads",
        ("Releasing", "PROPERTY WaitEnds"),
        "a new request that fits is granted while others wait",
        ("GrantedAtOnce(t, r)", "Fits(t, r)"),
        **CROWD,
    ),
    Claim(
        Rule.LIMIT_6,
        "a request stops waiting, if time passes, though nobody answers or releases",
        build_reads("Aging", "PROPERTY WaitEnds", Timeout=1),
        "no request times out",
        build_reads("Aging", "PROPERTY WaitEnds"),
        goes_on=True,
    ),
)
"""The claims about reads in flight and permits, under the fairness that each specification states."""


# --- The protocol of the wrapper

INVARIANTS: Final = ("NothingWrong", "Balanced", "ReadsRight", "SaysTrue", "PoolIsFree", "OneSlot", "Settled")


SIZES: Final[Mapping[str, frozenset[str]]] = {
    "Keys": frozenset({"k1", "k2"}),
    "Wrappers": frozenset({"w1", "w2"}),
    "Values": frozenset({"v1", "v2"}),
    "Readers": frozenset({"reader"}),
    "Removers": frozenset({"remover"}),
    "Writers": frozenset({"writer1", "writer2"}),
    "Evictors": frozenset({"evictor"}),
}
"""Two positions, two inserts, a read, a removal, and passes."""

PASSES: Final[Mapping[str, frozenset[str]]] = {
    **SIZES,
    "Readers": frozenset(),
    "Removers": frozenset(),
    "Evictors": frozenset({"evictor1", "evictor2"}),
}
"""Two evictors that run passes, and inserts."""


class Guard(NamedTuple):
    """A guard by the name of its constant, the rule that it protects, and the race without it with its source."""

    name: str
    rule: Rule
    race: str
    sizes: Mapping[str, frozenset[str]] = SIZES


GUARDS: Final = (
    Guard("ValidatesRead", Rule.LIVENESS_2, "a reader takes a value that is just being removed (kin of PR 22789)"),
    Guard("FailsAtZero", Rule.READ_1, "a reader retains a value whose last reference is gone (PR 22789)"),
    Guard("ChecksAgain", Rule.READ_1, "a reader is handed a value that was used anew for another position (PR 22789)"),
    Guard("RemovesSame", Rule.STATE_8, "a removal takes what stands there now, not what it looked up (PR 18076)"),
    Guard("MapFirst", Rule.INSERT_2, "the wrapper of a duplicate is used anew while it is in the queue (PR 24363)"),
    Guard(
        "RecyclesAfterPoll", Rule.STATE_2, "a removal by a call gives back a wrapper that is in the queue (PR 10433)"
    ),
    Guard("ForgetsAll", Rule.INSERT_1, "what was known of a former value is taken for known of a new one (PR 25987)"),
    Guard(
        "PassesAlone", Rule.STATE_2, "a pass takes from the queue what another one looked at (kin of PR 25988)", PASSES
    ),
)


def build_wrapper(without: str = "", sizes: Mapping[str, frozenset[str]] = SIZES) -> Module:
    """Build the module with every guard, or with every one but this."""
    guards = {guard.name: guard.name != without for guard in GUARDS}
    config = ("INIT Init", "NEXT Next", *(f"INVARIANT {name}" for name in INVARIANTS))
    return Module(NAME, "Wrapper", render_constants({**sizes, **guards}), config)


def build_claim(guard: Guard) -> Claim:
    """Build the claim that every guard is needed: the invariants hold with all, and a race appears without this one."""
    threads = sum(len(guard.sizes[kind]) for kind in ("Readers", "Removers", "Writers", "Evictors"))
    what = f"the wrapper's protocol with {threads} threads breaks no invariant"
    missing = f"{guard.name} is taken out: {guard.race}"
    return Claim(guard.rule, what, build_wrapper("", guard.sizes), missing, build_wrapper(guard.name, guard.sizes))


WRAPPER_CLAIMS: Final = tuple(build_claim(guard) for guard in GUARDS)
"""The claims, one for each guard."""


# Bounded models paired with the TLA+ module RemovalQueueWorld.


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

SECOND: Final = SecondModel((QUICK, *CLOSED), (*TERMINATION_CLAIMS, *READ_CLAIMS, *WRAPPER_CLAIMS))
