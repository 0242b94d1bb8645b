"""States and operations whose numbers are z3 terms, and a stand-in for any pass.

A state has an entry, one entry for the rest of its cache, and one for all other caches. An entry that stands for others
has the bytes of all, and is any one of them in comparisons. `tests/evidence/test_ties.py` plays steps on large states
and on such summaries. `any_pass` replaces the loop of `run_pass` by what `pass_lemmas` proves about it.
"""

from collections import deque
from collections.abc import Callable, Mapping
from functools import cache
from itertools import pairwise, product
from typing import Any, Final, NamedTuple

import z3

from entrycache_evidence.induction.lemma import build_term_model
from entrycache_evidence.induction.symbolic import Term, raw
from entrycache_evidence.pulsar_pip430.contracts.fixtures import FactByFact
from entrycache_evidence.pulsar_pip430.induction.decision import PULSAR
from entrycache_faults.model import Model, Place
from entrycache_reference.pulsar_pip430 import change, ops, outcomes, passes
from entrycache_reference.pulsar_pip430 import config as configuration
from entrycache_reference.pulsar_pip430.laws.law import Law
from entrycache_reference.pulsar_pip430.passes import Origin, Pass, PassKind
from entrycache_reference.pulsar_pip430.state import Cache, Counts, Entry, HeldPosition, Row, Slot, State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT, CacheName, CursorName, HoldName, Position

A: Final = CacheName("a")
B: Final = CacheName("b")
OWN: Final = Position(1, 5)
NEXT: Final = Position(1, 6)
LATER_LEDGER: Final = Position(2, 0)
X: Final = Slot(A, OWN)
Y: Final = Slot(A, LATER_LEDGER)
Z: Final = Slot(B, OWN)
NAMES: Final = {X: "x", Y: "y", Z: "z"}
CURSOR: Final = CursorName("reader")
KEPT_HOLD: Final = HoldName("kept")
TRIGGER: Final = z3.Int("trigger")
TARGET: Final = z3.Int("target")


class NoText:
    """A stand-in for the module that writes numbers as text."""

    @staticmethod
    def dumps(*values: object, **how: object) -> str:
        """Return any text."""
        return f"{len(values)} and {len(how)}"


def prepare_model(model: Model, more: Mapping[Place, object] | None = None) -> Model:
    """Prepare the model for terms: any trigger, any target, no numbers as text, and the replacements in `more`.

    The seeded fault of the model calls the replacements too.
    """
    replaced: dict[Place, object] = {
        "decision.LOOKUP": FactByFact(model["decision.LOOKUP"]),
        "passes.LOOKUP": FactByFact(model["passes.LOOKUP"]),
        "decision.trigger_bytes": lambda state: Term(TRIGGER),
        "decision.target_bytes": lambda state: Term(TARGET),
        "manager.json": NoText,
        **(more or {}),
    }
    return build_term_model(model, replaced)


def any_integer(name: str) -> Any:
    """Return any integer."""
    return Term(z3.Int(name))


def any_boolean(name: str) -> Any:
    """Return any boolean."""
    return Term(z3.Bool(name))


def build_entry(name: str, is_counted: bool, token: int | None = None) -> Entry:
    """Build any entry, with a count or without."""
    return Entry(
        any_integer(f"{name}.size"),
        any_integer(f"{name}.stamp"),
        any_integer(f"{name}.requeues"),
        any_boolean(f"{name}.accessed"),
        any_integer(f"{name}.count") if is_counted else None,
        token,
    )


class Shape(NamedTuple):
    """The order of the queue, the caches, whether the entry carries a count, and what is held."""

    name: str
    queue: tuple[Slot | None, ...]
    caches: tuple[CacheName, ...]
    is_counted: bool = True
    is_held: bool = False
    is_open: bool = True
    has_cursor: bool = True

    def state(self) -> State:
        """Build the state of this shape, with any numbers."""
        entries = {
            slot: build_entry(NAMES[slot], self.is_counted or slot == Z, 7 if self.is_held else None)
            for slot in self.queue
            if slot is not None
        }
        caches = {
            name: Cache(
                {slot.pos: entry for slot, entry in entries.items() if slot.cache == name},
                any_integer(f"{name}.bytes"),
                {CURSOR: OWN} if self.has_cursor else {},
                any_integer(f"{name}.grace"),
                is_open=self.is_open or name != A,
            )
            for name in self.caches
        }
        most: Any = any_integer("most")
        watermark: Any = Term(z3.Real("watermark"))
        settings = configuration.Settings(
            any_integer("limit"), watermark, any_integer("ttl"), most, any_boolean("extend")
        )
        held = (
            HeldPosition(X, X in entries),
            HeldPosition(Z, Z in entries),
            HeldPosition(Y, False),
            HeldPosition(Slot(A, NEXT), False),
        )
        holds = {KEPT_HOLD: held} if self.is_held else {}
        counts = Counts(*(any_integer(f"counts.{name}") for name in Counts._fields))
        return State(
            any_integer("now"),
            settings,
            caches,
            self.queue,
            any_integer("bytes"),
            any_boolean("scheduled"),
            holds,
            counts,
        )


SHAPES: Final = (
    Shape("nothing", (), ()),
    Shape("the entry first", (X, None, Y, Z), (A, B), is_held=True),
    Shape("the entry last, no count", (None, Z, Y, X), (A, B), is_counted=False),
    Shape("not the entry", (Y, None, Z), (A, B), is_held=True),
    Shape("a cache that was removed", (Z, None), (A, B), is_open=False),
)


CURSOR_LEFT: Final = Shape("its last cursor has left", (Z,), (A, B), has_cursor=False)


def build_constraints(state: State) -> Any:
    """Build the constraints that the rules promise of a state: sums, the order of stamps, and signs."""
    entries = {Slot(name, pos): entry for name, cache in state.caches.items() for pos, entry in cache.entries.items()}
    stamps = [raw(entries[slot].stamp_nanos) for slot in state.queue if slot is not None]
    said = [earlier <= later for earlier, later in pairwise(stamps)]
    said += [stamp <= raw(state.now_nanos) for stamp in stamps]
    for entry in entries.values():
        said += [raw(entry.size_bytes) >= 0, raw(entry.requeues) >= 0, raw(entry.stamp_nanos) >= 0]
    said += [raw(cache.size_bytes) == sum_of_sizes(cache) for cache in state.caches.values()]
    said.append(raw(state.size_bytes) == sum((raw(cache.size_bytes) for cache in state.caches.values()), z3.IntVal(0)))
    settings = state.settings
    said += [raw(settings.max_requeues) >= 0, raw(settings.ttl_nanos) >= 0, raw(state.now_nanos) >= 0]
    return z3.And(said)


def sum_of_sizes(cache: Cache) -> Any:
    """Return the sum of the sizes in a cache."""
    return sum((raw(entry.size_bytes) for entry in cache.entries.values()), z3.IntVal(0))


CONFIG: Final = configuration.Config(storage_entry_size=any_integer("fill"))
MANUAL: Final = configuration.Config(storage_entry_size=any_integer("fill"), eviction=configuration.Eviction.MANUAL)
RELEASED: Final = configuration.Config(
    storage_entry_size=any_integer("fill"),
    variants=configuration.Variants(
        configuration.RequeueBudget.SPLIT,
        configuration.CountFloor.ZERO,
        configuration.ZeroReads.COUNTED,
        configuration.DuplicateCount.REPLACED,
        configuration.SizePassRounds.ONE,
    ),
)
GRACES: Final = (
    configuration.Config(ttl_nanos=any_integer("first_ttl"), storage_entry_size=any_integer("fill")),
    configuration.Config(
        ttl_nanos=any_integer("first_ttl"), grace_millis=any_integer("grace"), storage_entry_size=any_integer("fill")
    ),
)
"""The default grace period, and a given one."""
GRACE: Final = ops.ShouldCache(A)
OFF: Final = configuration.Config(max_size_bytes=0, storage_entry_size=any_integer("fill"))

BOUNDS: Final = (
    (OWN, OWN),
    (Position(1, 0), Position(1, 9)),
    (OWN, LATER_LEDGER),
    (NEXT, LATER_LEDGER),
    (NEXT, Position(1, 9)),
    (LATER_LEDGER, OWN),
)
"""Ranges that hold the entry, the rest, both or nothing, with ends on an entry or not, and a reversed one."""

_READS: Final[tuple[Any, ...]] = (ABSENT, None, any_integer("reads"))
_HOLD_NAMES: Final = (ABSENT, HoldName("new"), KEPT_HOLD)

RANGE: Final[tuple[ops.Op, ...]] = (
    *(ops.Insert(A, OWN, any_integer("size"), reads, 7) for reads in _READS),
    ops.Insert(A, OWN, any_integer("size")),
    ops.Get(A, OWN),
    ops.Exists(A, OWN),
    *(ops.GetRange(A, *bounds) for bounds in BOUNDS),
    *(ops.RemoveRange(A, *bounds, inclusive) for bounds, inclusive in product(BOUNDS, (False, True))),
    ops.Clear(A),
    ops.Usage(),
    ops.Usage(A),
    ops.Observe(),
)
QUEUE: Final[tuple[ops.Op, ...]] = (
    ops.Advance(any_integer("nanos")),
    ops.MarkRead(A, OWN),
    ops.ExpectRead(A, OWN),
)
MANAGER: Final[tuple[ops.Op, ...]] = (
    ops.Configure(
        max_size_bytes=any_integer("new_limit"), ttl_nanos=any_integer("new_ttl"), max_requeues=any_integer("new_most")
    ),
    ops.Configure(watermark=1.5),
    *(ops.InvalidateBefore(A, pos) for pos in (OWN, LATER_LEDGER, Position(3, 0))),
    *(ops.InvalidateLedger(A, ledger) for ledger in (1, 2)),
    ops.RemoveCache(A),
    ops.Metrics(),
)
READS: Final[tuple[ops.Op, ...]] = (
    *(ops.Read(A, OWN, NEXT, any_integer("reads"), hold) for hold in _HOLD_NAMES),
    ops.Read(A, NEXT, OWN, any_integer("reads")),
    *(ops.ReadOne(A, pos, hold) for pos in (OWN, NEXT) for hold in _HOLD_NAMES),
    ops.Release(KEPT_HOLD),
    ops.Release(HoldName("new")),
)
STEPS: Final[tuple[ops.Op, ...]] = (*RANGE, *QUEUE, *MANAGER, *READS)
"""The operations up to level `reads` that run no pass, with any numbers."""

PASSES: Final[tuple[ops.Op, ...]] = (ops.Expire(), ops.Expire(any_integer("older")), ops.Evict(any_integer("need")))
"""The passes that meet an empty queue or are refused; `pass_lemmas` proves their loop."""


# --- Any pass

PROVED_OF_LOOP: Final = (ops.Expire, ops.Evict)
"""The parts of a step that are passes, whose laws are proved of the loop."""

_passes_made: list[None] = []
"""A list with one item for each pass on the current path."""


def begin_path() -> None:
    """Begin another path; its first pass is the first again."""
    _passes_made.clear()


def _heads_taken(queue: tuple[Slot | None, ...], name: str) -> tuple[Slot | None, ...]:
    """Return the slots that a pass takes: any number of heads."""
    for number_of, _ in enumerate(queue):
        if any_boolean(f"{name} takes {number_of} slots"):
            return queue[:number_of]
    return queue


def any_pass(rows_of: Callable[[Pass], tuple[Row, ...]]) -> Callable[..., Step]:
    """Build any pass: it takes heads, removes any of them, and puts the others at the tail in their order."""

    def passed(
        state: State, kind: PassKind, bound: Any, config: configuration.Config, origin: Origin = Origin.CALL
    ) -> Step:
        _passes_made.append(None)
        name = f"pass {len(_passes_made)}"
        own = passes.Copies(dict(state.caches), deque(state.queue))
        gone: list[Slot] = []
        freed: Any = 0
        for slot in _heads_taken(state.queue, name):
            own.queue.popleft()
            if slot is None:
                continue
            entry = own.caches[slot.cache].entries[slot.pos]
            if any_boolean(f"{name} removes {slot}"):
                passes.remove_from_cache(own.caches, slot)
                gone.append(slot)
                freed = entry.size_bytes + freed
            else:
                again = entry._replace(
                    stamp_nanos=state.now_nanos, accessed=False, requeues=any_integer(f"{name} requeues {slot}")
                )
                passes.replace_in_cache(own.caches, slot, again)
                own.queue.append(slot)
        left = state._replace(
            caches=own.caches,
            queue=tuple(own.queue),
            size_bytes=state.size_bytes - freed,
            holds=change.drop_claims(state.holds, frozenset(gone)),
            counts=state.counts._replace(evicted_entries=state.counts.evicted_entries + len(gone)),
        )
        rows = rows_of(Pass(state, kind, origin, bound, bound, ()))
        return Step(left, outcomes.Removed(len(gone), freed), rows)

    return passed


@cache
def prepare_model_with_any_pass(model: Model) -> Model:
    """Prepare the model for terms, with any pass in place of those that it runs."""
    return prepare_model(model, {"passes.run_pass": any_pass(prepare_model(model)["passes.rows_of_pass"])})


class _EmptyMemo(list[Any]):
    """A memo that is always empty, since each path through a step has another answer."""

    def __bool__(self) -> bool:
        return False


def _is_number(value: object, kind: Any) -> bool:
    return kind is int if isinstance(value, Term) else isinstance(value, kind)


@cache
def laws() -> Mapping[Rule, Law]:
    """Return the first law of each rule, prepared for terms with any trigger and any target."""
    term_model = build_term_model(
        PULSAR,
        {
            "laws.law.trigger_of": lambda state: Term(TRIGGER),
            "laws.law.target_of": lambda state: Term(TARGET),
            "laws.law._trigger_memo": _EmptyMemo(),
            "laws.law._walk_memo": _EmptyMemo(),
            "laws.entries.isinstance": _is_number,
        },
    )
    return {law.rule: law for law in reversed(term_model["laws.LAWS"])}


PASS_OPERATIONS: Final[tuple[ops.Op, ...]] = (ops.Cycle(), ops.RunScheduled())
"""The operations that run passes by themselves."""
