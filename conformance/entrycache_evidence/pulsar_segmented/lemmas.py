"""Lemmas of `pulsar-segmented`: its own laws on any numbers, and the number and share of segments.

A ring has three segments of any equal share of any limit, with the current one between the others, or two segments with
the last one current. Each segment is written up to any byte within it.
"""

import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any, Final

import z3

from entrycache_evidence.core.models import FAULT_OF
from entrycache_evidence.induction.lemma import Case, LawCases, Lemma, LemmaFault, Obligation, build_term_model
from entrycache_evidence.induction.symbolic import Term, merge_paths, raw
from entrycache_evidence.induction.turns import Fold, any_tuple, forget_counts
from entrycache_evidence.pulsar_segmented.bounded_models import BRANCH_VARIANTS, VARIANTS, A, B, at
from entrycache_faults.model import Model
from entrycache_reference.pulsar_segmented import Config, Mode, lookup, ops
from entrycache_reference.pulsar_segmented.laws import LAWS
from entrycache_reference.pulsar_segmented.state import Entry, Place, Segment, State, find_in_segment
from entrycache_reference.rules import Rule

OWN, NEXT, OTHER = Place(A, at(5)), Place(A, at(6)), Place(B, at(5))
"""The entry of the operation, another one of its cache, and one of another cache."""

SHAPES: Final[dict[str, tuple[tuple[tuple[Place, ...], ...], int]]] = {
    "nothing": (((), ()), 0),
    "the entry in the current segment": (((NEXT,), (OWN, OTHER), ()), 1),
    "the entry in the oldest segment": (((OTHER,), (NEXT,), (OWN,)), 1),
    "the entry in the segment before, the last one current": (((OWN,), (NEXT, OTHER)), 1),
}
"""The entries of the segments, and the current segment."""


def any_integer(name: str) -> Any:
    """Return any integer."""
    return Term(z3.Int(name))


def build_state(held: tuple[tuple[Place, ...], ...], current: int, has_payload: bool) -> State:
    """Build a ring with these entries, of any numbers."""
    segments = {
        index: Segment(
            tuple(
                Entry(
                    place,
                    any_integer(f"{place.cache}{place.pos}.size"),
                    any_integer(f"{place.cache}{place.pos}.start"),
                    place.pos.entry if has_payload else None,
                )
                for place in places
            ),
            any_integer(f"offset {index}"),
        )
        for index, places in enumerate(held)
    }
    return State(segments, current, any_integer("segment"))


def build_constraints(state: State, config: Config) -> Any:
    """Build the constraints that the rules promise of a ring: equal shares, and signs."""
    sizes = [raw(entry.size_bytes) for segment in state.segments.values() for entry in segment.entries]
    offsets = [raw(segment.offset) for segment in state.segments.values()]
    whole, limit = raw(state.segment_bytes) * len(state.segments), raw(config.max_size_bytes)
    shared = z3.And(whole <= limit, limit < whole + len(state.segments), limit >= 0)
    return z3.And(shared, *(size >= 0 for size in sizes), *(offset >= 0 for offset in offsets))


COPY: Final = Config(any_integer("limit"), 3)
REFERENCE: Final = replace(COPY, mode=Mode.REFERENCE)
DEFAULTS: Final[dict[str, Config]] = {"copies": COPY, "references": REFERENCE}
BRANCH: Final[dict[str, Config]] = {
    **{scope.name.rpartition(", ")[2]: replace(REFERENCE, variants=scope.config.variants) for scope in VARIANTS},
    "as the branch": replace(REFERENCE, variants=BRANCH_VARIANTS),
}
BOUNDS: Final = ((at(5), at(5)), (at(5), at(6)), (at(4), at(6)), (at(6), at(5)), (at(5), at(5, 2)))
INSERTS: Final[tuple[ops.Op, ...]] = (
    ops.Insert(*OWN, any_integer("size")),
    ops.Insert(A, at(7), any_integer("size"), 7),
)
QUERIES: Final[tuple[ops.Op, ...]] = (
    *(ops.Get(A, pos) for pos in (at(5), at(7))),
    *(ops.GetRange(A, *bounds) for bounds in BOUNDS),
    *(ops.Usage(), ops.Observe()),
)

VARIED_OPERATIONS: Final = (ops.Insert, ops.GetRange, ops.Usage)
"""The operations that a variant changes."""


def _cases() -> Iterator[Case]:
    """Yield the defaults on each shape, and the variants of the branch where the entry is in either segment."""
    named = list(SHAPES)
    for shapes, configs in ((named, DEFAULTS), ((named[1], named[3]), BRANCH)):
        for (shape, (how, config)), op in product(product(shapes, configs.items()), (*INSERTS, *QUERIES)):
            held, current = SHAPES[shape]
            state = build_state(held, current, len(held) == 2)
            if configs is DEFAULTS or type(op) in VARIED_OPERATIONS:
                yield Case(f"{op.name}, {shape}, {how}", state, op, config, build_constraints(state, config))


def _prepare_model(model: Model) -> Model:
    """Return the model; its functions take terms as they are."""
    return build_term_model(model, {})


LAW_CASES: Final = LawCases(
    tuple(_cases()),
    _prepare_model,
    "rings of two and of three segments, an entry in any of them or in none, another one in each; any sizes, any limit",
    "any numbers, in rings of up to 3 segments",
)

FIRST_STATE_RULES: Final = frozenset({Rule.S_CONFIG_1, Rule.S_CONFIG_2, Rule.S_STATE_1})
"""The rules about the first state; `SHARE_LEMMAS` proves two of them."""

STEP_LEMMAS: Final = tuple(LAW_CASES.lemma(law) for law in LAWS if law.rule not in FIRST_STATE_RULES)


# --- Number and share of segments

_LIMIT, _SEGMENTS = z3.Ints("limit segments")
_CONFIG: Final = Config(Term(_LIMIT))  # type: ignore[arg-type]
GIB: Final = 2**30


def _number(table: Any, model: Model) -> list[Obligation]:
    """Prove that there are as many segments as whole GiB, and two at least."""
    segments = merge_paths(lambda: build_term_model(model, {})["config.segments_of"](_CONFIG))
    most = z3.Or(segments == 2, z3.And(segments > 2, segments * GIB <= _LIMIT))
    return [Obligation("nobody says how many", _LIMIT >= 0, z3.And(most, (segments + 1) * GIB > _LIMIT))]


def _share(table: Any, model: Model) -> list[Obligation]:
    """Prove that shares are equal and leave less than a byte for each segment."""
    share = merge_paths(lambda: build_term_model(model, {})["config.segment_bytes"](_CONFIG, Term(_SEGMENTS)))
    whole = share * _SEGMENTS
    given = z3.And(_LIMIT >= 0, _SEGMENTS >= 2)
    return [Obligation("any number of segments", given, z3.And(whole <= _LIMIT, whole + _SEGMENTS > _LIMIT))]


def _lemma(rule: Rule, claim: str, obligations: Any) -> Lemma:
    fault = FAULT_OF[rule]
    return Lemma(rule, claim, obligations, LemmaFault(fault.note, fault.model))


SHARE_LEMMAS: Final = (
    _lemma(Rule.S_CONFIG_1, "any limit, where nobody says how many segments there are", _number),
    _lemma(Rule.S_CONFIG_2, "any limit and any number of segments", _share),
)

# --- Lookups in any number of segments

CACHED: Final = tuple(Entry(Place(A, at(number)), 1, number, number) for number in (3, 4, 5, 6))
_LOOP: Final = "state cache first last newest segment entry"
SPREAD: Final = (CACHED[1:], CACHED[:1], CACHED[2:3], ())
"""The entries of a few of the segments, newest first; one of them is cached twice."""


def _look_up(model: Model) -> Any:
    segments = any_tuple((Segment(any_tuple(entries, _LOOP), 8) for entries in SPREAD), _LOOP)
    ring = build_term_model(model, {**model.replaced, "lookup.newest_first": lambda state: segments})
    return ring["lookup.find_in_any_segment"](State({}, 0, 8), A, at(3), at(6))


IN_A_ROW: Final = (*CACHED, Entry(Place(A, at(7)), 1, 7, 7))


def _look_up_once(model: Model) -> Any:
    """Run the loops of a walk that asks each segment once, for one position after another."""
    known = frozenset("state cache first last gathered at segment entry".split())
    segments = any_tuple((Segment(entries, 8) for entries in (IN_A_ROW[:3], IN_A_ROW[3:], ())), " ".join(known))
    places_so_far: list[Place] = []

    def find(segment: Segment, place: Place) -> Entry | None:
        if len(places_so_far) == 1:
            forget_counts(sys._getframe(1), known)
        places_so_far.append(place)
        return find_in_segment(segment, place)

    places: dict[Any, object] = {"lookup.newest_first": lambda state: segments, "lookup.find_in_segment": find}
    ring = build_term_model(model, {**model.replaced, **places})
    return ring["lookup.find_in_one_pass"](State({}, 0, 8), A, at(3), at(7))


def _look_up_less(state: State, cache: Any, first: Any, last: Any) -> tuple[Entry, ...]:
    return lookup.find_in_any_segment(state, cache, first, last)[:-1]


FOLD_LEMMAS: Final = (
    Fold(
        Rule.S_RANGE_1,
        "what a range holds, in any number of segments, each with any number of entries",
        "lookup.find_in_any_segment",
        {},
        _look_up,
        CACHED,
        LemmaFault(
            "A range leaves out its last entry.",
            Model(FAULT_OF[Rule.S_RANGE_1].package, {"lookup.find_in_any_segment": _look_up_less}),
        ),
    ).lemma(),
    Fold(
        Rule.S_RANGE_4,
        "what a walk takes that asks each segment once, in any number of segments, each with any number of positions",
        "lookup.find_in_one_pass",
        {},
        _look_up_once,
        IN_A_ROW,
        LemmaFault(
            "A walk that asks each segment once takes nothing.",
            Model(FAULT_OF[Rule.S_RANGE_4].package, {"lookup.find_in_one_pass": lambda *about: ()}),
        ),
    ).lemma(),
)
"""The lemmas about lookups in a ring."""

LEMMAS: Final = (*STEP_LEMMAS, *SHARE_LEMMAS, *FOLD_LEMMAS)
"""All lemmas of the system."""
