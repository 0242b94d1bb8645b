"""Lemmas of `pulsar-legacy`: its own laws on any numbers, and the shares of a size pass.

A cache is an entry, one entry for all below it, and one for all above it; another cache is one entry. The shares are
computed in doubles: a double is the real number that it is, and a quotient or product is any number within half a unit
of its last place. IEEE 754 promises this of rounding to nearest. Bytes are below 2^53, so a double holds them exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import product
from math import trunc
from types import FunctionType
from typing import Any, Final

import z3

from entrycache_evidence.induction.lemma import Case, LawCases, Lemma, LemmaFault, Obligation, build_term_model
from entrycache_evidence.induction.symbolic import Term, raw
from entrycache_evidence.induction.turns import Fold, Visit, any_tuple
from entrycache_evidence.pulsar_legacy.stress import A, B, at
from entrycache_faults.model import Model, Place
from entrycache_faults.reference.pulsar_legacy import SEEDED_FAULTS
from entrycache_reference import rules, vocabulary
from entrycache_reference.pulsar_legacy import Config, ops
from entrycache_reference.pulsar_legacy.config import Eviction, SingleLookup, Variants
from entrycache_reference.pulsar_legacy.laws import LAWS
from entrycache_reference.pulsar_legacy.state import Cache, Entry, Part, State, Step

LOWER, OWN, NEXT, HIGHER = at(2), at(5), at(6), at(0, 2)
"""The positions below the entry, of the entry, of an absent entry, and above it in the next ledger."""

Places = tuple[tuple[vocabulary.CacheName, vocabulary.Position], ...]
SHAPES: Final[dict[str, Places]] = {
    "nothing": (),
    "the entry among others": ((A, LOWER), (A, OWN), (A, HIGHER), (B, OWN)),
    "not the entry": ((A, LOWER), (A, HIGHER), (B, OWN)),
    "the entry alone": ((A, OWN),),
    "the entry and those above": ((A, OWN), (A, HIGHER), (B, OWN)),
}
ONE_BY_ONE: Final = ("nothing", "the entry among others", "not the entry", "the entry alone")
ALL_CACHES: Final = ("nothing", "the entry alone", "the entry and those above")
"""The shapes for operations that may run a size pass over all caches; `ONE_BY_ONE` are those for one cache."""


def any_integer(name: str) -> Any:
    """Return any integer."""
    return Term(z3.Int(name))


def build_state(places: Places, is_waiting: bool, token: int | None) -> State:
    """Build a state with entries of any numbers at these places."""
    caches: dict[vocabulary.CacheName, Cache] = {}
    for name in dict.fromkeys(name for name, _ in places):
        entries = {
            pos: Entry(any_integer(f"{name}{pos}.size"), any_integer(f"{name}{pos}.stamp"), token)
            for cache, pos in places
            if cache == name
        }
        caches[name] = Cache(entries, any_integer(f"{name}.bytes"))
    return State(any_integer("now"), caches, any_integer("bytes"), any_integer("scheduled") if is_waiting else None)


def build_constraints(state: State) -> Any:
    """Build the constraints that the rules promise of a state: sums, and what cannot be negative."""
    entries = [entry for cache in state.caches.values() for entry in cache.entries.values()]
    said = [raw(entry.size_bytes) >= 0 for entry in entries]
    said += [raw(cache.size_bytes) == _sum(cache.entries.values()) for cache in state.caches.values()]
    return z3.And(raw(state.size_bytes) == _sum(state.caches.values()), *said)


def _sum(held: Any) -> Any:
    return sum((raw(one.size_bytes) for one in held), z3.IntVal(0))


CONFIG: Final = Config(any_integer("limit"), ttl_nanos=any_integer("ttl"))
MANUAL: Final = Config(any_integer("limit"), ttl_nanos=any_integer("ttl"), eviction=Eviction.MANUAL)
OBJECT: Final = Config(any_integer("limit"), variants=Variants(SingleLookup.OBJECT))
BOUNDS: Final = ((OWN, OWN), (at(0), HIGHER), (LOWER, OWN), (NEXT, at(9)), (HIGHER, OWN))
"""Ranges: the entry, all, the entry and those below, nothing, and a reversed one."""

INSERTS: Final[tuple[ops.Op, ...]] = (
    ops.Insert(A, OWN, any_integer("size")),
    ops.Insert(A, NEXT, any_integer("size"), 7),
)
SINGLE: Final[tuple[ops.Op, ...]] = (
    *(ops.Get(A, pos) for pos in (OWN, NEXT)),
    *(ops.ReadOne(A, pos) for pos in (OWN, NEXT)),
)
READS: Final[tuple[ops.Op, ...]] = (ops.Read(A, OWN, OWN), ops.Read(A, OWN, NEXT), ops.Read(A, NEXT, OWN))
STEPS: Final[tuple[ops.Op, ...]] = (
    *SINGLE,
    *(ops.GetRange(A, *bounds) for bounds in BOUNDS),
    *(ops.Exists(A, pos) for pos in (OWN, NEXT)),
    *(ops.RemoveRange(A, *bounds, inclusive) for bounds, inclusive in product(BOUNDS, (False, True))),
    ops.Clear(A),
    *(ops.InvalidateBefore(A, pos) for pos in (OWN, HIGHER, at(0, 3))),
    *(ops.InvalidateLedger(A, ledger) for ledger in (1, 2)),
    ops.RemoveCache(A),
    *(ops.Usage(), ops.Usage(A), ops.Observe()),
    ops.Advance(any_integer("nanos")),
    *(ops.Expire(A, age) for age in (vocabulary.ABSENT, any_integer("age"))),
    ops.EvictCache(A, any_integer("need")),
)
PASSES: Final[tuple[ops.Op, ...]] = (ops.Evict(any_integer("need")), ops.RunScheduled())


def _prepare_model(model: Model) -> Model:
    """Return the model with any number as the share of a cache, the same one for equal arguments."""
    share = z3.Function("share", *[z3.IntSort()] * 4)
    return build_term_model(model, {"passes.compute_share": lambda *of: Term(share(*map(raw, of)))})


def _states(shapes: Iterable[str], waiting: Iterable[str]) -> Iterator[tuple[str, State]]:
    """Yield a state of each of these shapes; those in `waiting` have a pass that waits."""
    for names, is_waiting, named in ((shapes, False, ""), (waiting, True, ", a pass waits")):
        for name in names:
            yield name + named, build_state(SHAPES[name], is_waiting, 7 if name == "the entry alone" else None)


def _cases() -> Iterator[Case]:
    """Yield each operation on each shape; passes meet fewer entries, and reads trigger none."""
    trigger = raw(trunc(any_integer("limit") * 0.98))
    for name, state in _states(ONE_BY_ONE, ONE_BY_ONE[1:2]):
        given = build_constraints(state)
        quiet = z3.And(given, raw(state.size_bytes) + 200 <= trigger)
        yield from (Case(f"{op.name}, {name}", state, op, CONFIG, given) for op in STEPS)
        yield from (Case(f"{op.name}, {name}, by object", state, op, OBJECT, given) for op in SINGLE)
        yield from (Case(f"{op.name}, {name}", state, op, CONFIG, quiet) for op in READS)
    for name, state in _states(ALL_CACHES, ALL_CACHES):
        for op, config in (*product(INSERTS, (CONFIG, MANUAL)), *product(PASSES, (CONFIG,))):
            yield Case(f"{op.name}, {name}, {config.eviction.value}", state, op, config, build_constraints(state))


LAW_CASES: Final = LawCases(
    tuple(_cases()),
    _prepare_model,
    "an entry, those below as one, those above as one, another cache as one; any numbers, any limit, whatever its "
    "products with the shares are",
)

OTHER_RULES: Final = frozenset({rules.Rule.L_EVICT_5})
"""Rules whose law computes in doubles; `SHARE_LEMMAS` proves them."""


def _with_base(lemma: Lemma) -> Lemma:
    """Add the first state to a lemma about a property that each step keeps."""

    def obligations(table: Any, model: Model) -> Iterator[Obligation]:
        yield Obligation("base: the first state", z3.BoolVal(True), build_constraints(model.initial(CONFIG)))
        yield from lemma.obligations(table, model)

    return lemma._replace(claim=f"the first state; {lemma.claim}", obligations=obligations)


_STEPS: Final = tuple(LAW_CASES.lemma(law) for law in LAWS if law.rule not in OTHER_RULES)
STEP_LEMMAS: Final = tuple(_with_base(lemma) if lemma.rule is rules.Rule.L_STATE_1 else lemma for lemma in _STEPS)


# --- Shares of a size pass

HALF_A_PLACE: Final = z3.Q(1, 2**53)
"""The greatest relative error of rounding to nearest."""

MOST: Final = 2**48
"""The greatest amount: 256 TiB."""


class Double:
    """A non-negative double; `said` collects the constraints of it and of its operands."""

    def __init__(self, term: Any, said: list[Any]) -> None:
        self.term, self.said = term, said

    def _rounded(self, exact: Any) -> Double:
        rounded = z3.FreshReal("rounded")
        self.said += [rounded >= 0, rounded <= exact * (1 + HALF_A_PLACE), rounded >= exact * (1 - HALF_A_PLACE)]
        return Double(rounded, self.said)

    def __truediv__(self, other: Double) -> Double:
        """Divide: the exact quotient times the divisor is this number; the result is rounded."""
        exact = z3.FreshReal("quotient")
        self.said.append(exact * other.term == self.term)
        return self._rounded(exact)

    def __mul__(self, other: Double) -> Double:
        return self._rounded(self.term * other.term)

    def whole(self) -> Any:
        """Return the number, truncated."""
        whole = z3.FreshReal("whole")
        self.said += [whole >= 0, whole <= self.term, whole > self.term - 1]
        return whole


def _share_of(model: Model, said: list[Any]) -> Callable[[Any, Any, Any], Any]:
    """Return the model's own function, with such doubles for `float` and truncation for `int`."""
    function = model["passes.compute_share"]
    names = {**function.__globals__, "float": lambda number: Double(number, said), "int": Double.whole}
    share = FunctionType(function.__code__, names)
    return lambda *of: raw(share(*of))


def _share_obligations(table: Any, model: Model) -> list[Obligation]:
    """Build the obligations about two caches of any bytes."""
    amount, *held = z3.Reals("amount first second")
    said: list[Any] = []
    share, total = _share_of(model, said), z3.Sum(held)
    given = [share(amount, cache, total) for cache in held]
    sane = z3.And(amount >= 1, amount <= MOST, *(cache >= 0 for cache in held), total > 0)
    rounded = z3.And(sane, *said)
    return [
        Obligation("together no byte more than the amount", rounded, z3.Sum(given) < amount + 1),
        Obligation("at most two bytes short of it", rounded, z3.Sum(given) > amount - 3),
        Obligation("one that holds no bytes gives none", z3.And(rounded, held[0] == 0), given[0] <= 0),
    ]


FAULT: Final = next(fault for fault in SEEDED_FAULTS.others if fault.note.startswith("Each cache that gives gives all"))

SHARE_LEMMAS: Final = (
    Lemma(
        rules.Rule.L_EVICT_5,
        "the shares of two caches of any bytes, of any amount up to 2^48: together at most the amount, and at most two "
        "bytes short of it; quotient and product rounded to nearest, as doubles are",
        _share_obligations,
        LemmaFault(FAULT.note, FAULT.model),
    ),
)

# --- Loops over any number of entries

PLACES: Final = tuple(at(number) for number in (2, 3, 5, 6))
CACHED: Final = State(9, {A: Cache({pos: Entry(10, 5, None) for pos in PLACES}, 40)}, 40)
_LOOP: Final = "state name cutoff_nanos need_bytes chosen freed_bytes pos"


def _choose(place: str, bound: int) -> Callable[[Model], Any]:
    """Build a run of a loop that chooses positions, over any number of them."""

    def run(model: Model) -> Any:
        places: dict[Place, object] = {"passes.positions_of": lambda state, name: any_tuple(PLACES, _LOOP)}
        return build_term_model(model, {**model.replaced, **places})[place](CACHED, A, bound)

    return run


def _choose_less(state: State, name: vocabulary.CacheName, bound: int) -> tuple[vocabulary.Position, ...]:
    return tuple(state.caches[name].entries)[:-1]


CHOICE_LEMMAS: Final = tuple(
    Fold(
        rule,
        f"what {about} takes, where all may leave",
        place,
        {},
        _choose(place, bound),
        PLACES,
        LemmaFault("A pass spares the highest entry.", Model(FAULT.package, {place: _choose_less})),
    ).lemma()
    for rule, about, place, bound in (
        (rules.Rule.L_EXPIRE_2, "a time pass", "passes.find_expired", 5),
        (rules.Rule.L_EVICT_2, "a size pass", "passes.find_lowest", 40),
    )
)
"""The lemmas about loops over positions."""

# --- Loops over any number of caches

CACHES: Final = tuple(map(vocabulary.CacheName, "abcd"))
GIVING: Final = State(9, {name: Cache({OWN: Entry(10, 5, None)}, 10) for name in CACHES}, 100)
"""Four caches that hold less than half of all bytes, so that each gives."""

GAVE: Final = ops.Removed(1, 10)


def _givers(model: Model) -> Any:
    """Run the loop that chooses the caches that give."""
    ordered = any_tuple(CACHES, "state quota_bytes chosen sum_bytes name")
    places: dict[Place, object] = {"passes.order_by_size": lambda state: ordered}
    return build_term_model(model, {**model.replaced, **places})["passes.choose_givers"](GIVING)


def _shares(model: Model) -> Any:
    """Run the loop in which the chosen caches give."""
    chosen = any_tuple(CACHES, "state event config origin names sum_bytes after parts name share_bytes part result")
    places: dict[Place, object] = {
        "passes.choose_givers": lambda state: chosen,
        "passes.build_pass_rows": lambda *arguments: (),
        "passes.sum_removed": lambda parts: GAVE,
    }
    return build_term_model(model, {**model.replaced, **places})["passes.evict"](GIVING, ops.Evict(40), CONFIG)


def _sum_of_parts(model: Model) -> Any:
    """Run the loop that adds up what the caches gave."""
    part = Part(GIVING, ops.Evict(1), Step(GIVING, GAVE, ()))
    total = model["passes.sum_removed"](any_tuple((part,) * 4, "parts entries freed_bytes part"))
    return total.entries, total.bytes


_GIVES: Final = {
    "passes.evict_cache": Visit(lambda state, part, config: part.cache, lambda state, *_: Step(state, GAVE, ()))
}

CACHE_LEMMAS: Final = tuple(
    Fold(rule, claim, place, visits, run, wanted, LemmaFault(note, Model(FAULT.package, {place: fault}))).lemma()
    for rule, claim, place, visits, run, wanted, note, fault in (
        (
            rules.Rule.L_EVICT_3,
            "the caches that give, where all together hold less than half of all bytes",
            "passes.choose_givers",
            {},
            _givers,
            CACHES,
            "The smallest cache gives nothing.",
            lambda state: CACHES[:-1],
        ),
        (
            rules.Rule.L_EVICT_5,
            "the caches that a pass over all caches evicts from, where each share is above 0",
            "passes.evict",
            _GIVES,
            _shares,
            CACHES,
            "A pass over all caches evicts nothing.",
            lambda state, event, config: Step(state, GAVE, ()),
        ),
        (
            rules.Rule.L_STATE_5,
            "what the caches gave, added up",
            "passes.sum_removed",
            {},
            _sum_of_parts,
            (4, 40),
            "What the last cache gave is not counted.",
            lambda parts: ops.Removed(3, 30),
        ),
    )
)
"""The lemmas about loops over caches."""

# --- Loops over the positions of a call


def _rows(model: Model) -> Any:
    """Run the loop that builds the rows of what a call removes."""
    known = "rule op cause before cache positions rows bytes_left pos entry"
    about = rules.Rule.L_STATE_1, "REMOVE", "CLEAR", CACHED, A
    return model["change.removal_rows"](*about, any_tuple(PLACES, known))


def _fills(model: Model) -> Any:
    """Run the loop that offers what storage answered."""
    requested = any_tuple(PLACES, "state name requested config after rows parts pos event result")
    places: dict[Place, object] = {"entries.serve_from_storage": lambda requested: ops.Removed(0, 0)}
    return build_term_model(model, {**model.replaced, **places})["entries.fill"](CACHED, A, requested, CONFIG)


def _later(state: State) -> State:
    """Return the state that a turn hands on: one nanosecond later."""
    return state._replace(now_nanos=state.now_nanos + 1)


_FILLED: Final = Visit(
    lambda state, event, *about: (event.pos, state.now_nanos),
    lambda state, event, *about: Step(_later(state), GAVE, (event.pos,)),
)

POSITION_LEMMAS: Final = tuple(
    Fold(
        rule, claim, place, visits, run, wanted, LemmaFault(note, Model(FAULT.package, {place: fault})), {}, ends
    ).lemma()
    for rule, claim, place, visits, run, wanted, ends, note, fault in (
        (
            rules.Rule.L_STATE_1,
            "the rows of what a call removes, with the bytes that are left after each",
            "change.removal_rows",
            {"change.entry_row": Visit(lambda *about: (about[5], about[7]), lambda *about: about[5])},
            _rows,
            (*((pos, 30 - 10 * turn) for turn, pos in enumerate(PLACES)), PLACES),
            lambda rows: (rows,),
            "A call removes without rows.",
            lambda *about: (),
        ),
        (
            rules.Rule.L_READ_5,
            "the entries that a read fills, each offered to the cache that the entry before left",
            "entries.fill",
            {"entries.insert": _FILLED},
            _fills,
            (*((pos, 9 + turn) for turn, pos in enumerate(PLACES)), (PLACES, PLACES, 13)),
            lambda step: ((step.rows, tuple(part.event.pos for part in step.parts), step.state.now_nanos),),
            "A read fills nothing.",
            lambda state, *about: Step(state, GAVE, ()),
        ),
    )
)
"""The lemmas about loops over positions that are given."""

LEMMAS: Final = (*STEP_LEMMAS, *SHARE_LEMMAS, *CHOICE_LEMMAS, *CACHE_LEMMAS, *POSITION_LEMMAS)
"""All lemmas of the system."""
