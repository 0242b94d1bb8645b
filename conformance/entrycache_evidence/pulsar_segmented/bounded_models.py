"""The bounded models of `pulsar-segmented` that are exhausted; together they fire every law of its steps.

A `BoundedModel` lists its events, and states are compared as a whole. `CI`, `LONG` and `NIGHTLY` are the models of the
profiles. `REFINED` lists those that are walked beside the fast cache, each with a seeded fault that the walk has to
detect: `abstract_state` reads the state of the reference that the cache stands for.
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Final

from entrycache_conformance.systems.pulsar_segmented.fast_cache import Adapter, open_cache
from entrycache_conformance.systems.pulsar_segmented.system import SYSTEM
from entrycache_evidence.model_checker.checker import Parts
from entrycache_evidence.model_checker.refinement import FastCache, RefinementTask, walk_faulty_reference
from entrycache_fast.segmented import Segment as FastSegment
from entrycache_fast.segmented import SegmentedCache
from entrycache_faults.fast.pulsar_segmented import FAULTS
from entrycache_faults.reference.pulsar_segmented.ring import SUBJECTS
from entrycache_reference.pulsar_segmented import Config, Mode, State, Step, Variants, ops
from entrycache_reference.pulsar_segmented import config as configuration
from entrycache_reference.pulsar_segmented.state import Entry, Place, Segment
from entrycache_reference.vocabulary import ABSENT, Absent, CacheName, Position

A, B = CacheName("a"), CacheName("b")
REFERENCE: Final = Config(4, 2, Mode.REFERENCE)
QUERIES: Final[tuple[ops.Op, ...]] = (ops.Usage(), ops.Observe())


def at(entry: int, ledger: int = 1) -> Position:
    """Return a position, mostly of ledger 1."""
    return Position(ledger, entry)


def build_inserts(
    places: Iterable[tuple[CacheName, Position]], sizes: Iterable[int], first_token: int | Absent = ABSENT
) -> tuple[ops.Op, ...]:
    """Build an insert of each of these sizes at each of these places; with a token, each place has its own."""
    numbered = list(enumerate(places))
    return tuple(
        ops.Insert(cache, pos, size, ABSENT if first_token is ABSENT else first_token + number)
        for number, (cache, pos) in numbered
        for size in sizes
    )


THREE: Final = tuple((A, at(entry)) for entry in range(3))
RANGES: Final = tuple(
    ops.GetRange(A, first, last)
    for first, last in ((at(0), at(1)), (at(0), at(2)), (at(2), at(0)), (at(-1), at(0)), (at(0), at(0, 2)))
)


def build_lookups(places: Iterable[tuple[CacheName, Position]]) -> tuple[ops.Op, ...]:
    """Build a lookup of each place, the ranges, and the queries."""
    return (*(ops.Get(*place) for place in places), *RANGES, *QUERIES)


@dataclass(frozen=True, slots=True)
class BoundedModel:
    """The scope of an exploration; `description` names the events, and every event may happen in every state."""

    name: str
    config: Config
    events: tuple[ops.Op, ...]
    description: str
    depth: int | None = None

    def parts(self) -> Parts:
        """Return the events, which are the same in every state."""
        return Parts(SYSTEM, lambda _: self.events, WholeStates())

    def describe(self) -> str:
        """Describe the bounds."""
        return f"{self.name}: {len(self.events)} events ({self.description})"


class WholeStates:
    """Equality of whole states."""

    def key(self, state: State) -> Hashable:
        """Return the whole state."""
        return tuple(state.segments.values()), state.current

    def representative(self, state: State) -> State:
        """Return the state."""
        return state

    def follows(self, step: Step) -> bool:
        """Return True: every step is followed."""
        return True


EVERY: Final = BoundedModel(
    "every operation on references",
    REFERENCE,
    (*build_inserts(THREE, (0, 1, 2, 3, -1)), *build_lookups((*THREE, (B, at(0))))),
    "three entries of five sizes in two segments of 2 bytes",
)
COPIES: Final = BoundedModel(
    "every operation on copies",
    Config(258, 2),
    (*build_inserts(THREE, (1, 64, 65, 129, 130)), *build_lookups(THREE)),
    "three entries of five sizes in two segments of 129 bytes",
)
PAYLOADS: Final = BoundedModel(
    "payloads",
    REFERENCE,
    (*build_inserts(THREE, (1, 2), 7), *build_lookups(THREE)),
    "three entries with a payload each, of two sizes, in two segments of 2 bytes",
)
LEDGERS: Final = BoundedModel(
    "three segments, two ledgers, two caches",
    Config(6, 3, Mode.REFERENCE),
    (
        *build_inserts(((A, at(0)), (A, at(1)), (A, at(0, 2)), (B, at(0))), (1, 2)),
        *build_lookups(((A, at(0)), (B, at(0)))),
    ),
    "four entries of two sizes in three segments of 2 bytes",
)
DEFAULT_SEGMENTS: Final = BoundedModel(
    "a number of segments that nobody says",
    Config(5, None, Mode.REFERENCE),
    (*build_inserts(THREE, (1, 2, 3)), *build_lookups(THREE)),
    "three entries of three sizes",
)
OFF: Final = BoundedModel(
    "nothing is cached", Config(0), (*build_inserts(THREE, (0, 1, -1)), *build_lookups(THREE)), "a limit of 0"
)

VARIANTS: Final = tuple(
    BoundedModel(
        f"every operation on references, {name}",
        replace(REFERENCE, variants=variants),
        (*build_inserts(THREE, (1, 2)), *build_lookups(THREE)),
        "three entries of two sizes in two segments of 2 bytes",
        depth=5,
    )
    for name, variants in {
        "duplicates overwrite": Variants(duplicate=configuration.Duplicate.OVERWRITTEN),
        "duplicates turn": Variants(duplicate=configuration.Duplicate.ROTATING),
        "tries count": Variants(failed_offer=configuration.FailedOffer.COUNTED),
        "offsets stay": Variants(cleared_offset=configuration.ClearedOffset.KEPT),
        "indexes stay": Variants(cleared_index=configuration.ClearedIndex.KEPT),
        "ranges are walked once": Variants(range_walk=configuration.RangeWalk.ONE_PASS),
        "offsets are used": Variants(used=configuration.Used.OFFSETS),
    }.items()
)

BRANCH_VARIANTS: Final = Variants(
    duplicate=configuration.Duplicate.ROTATING,
    failed_offer=configuration.FailedOffer.COUNTED,
    cleared_offset=configuration.ClearedOffset.KEPT,
    range_walk=configuration.RangeWalk.ONE_PASS,
    used=configuration.Used.OFFSETS,
)

BRANCH: Final = replace(
    VARIANTS[0],
    name="every operation on references, as the branch has them",
    config=replace(REFERENCE, variants=BRANCH_VARIANTS),
)

CI: Final[tuple[BoundedModel, ...]] = (EVERY, COPIES, PAYLOADS, LEDGERS, DEFAULT_SEGMENTS, OFF, *VARIANTS, BRANCH)
LONG: Final[tuple[BoundedModel, ...]] = (*CI, replace(BRANCH, name=f"{BRANCH.name}, deeper", depth=7))
NIGHTLY: Final[tuple[BoundedModel, ...]] = (
    *LONG,
    BoundedModel(
        "four segments",
        Config(8, 4, Mode.REFERENCE),
        (*build_inserts(tuple((A, at(entry)) for entry in range(5)), (1, 2)), *build_lookups(THREE)),
        "five entries of two sizes in four segments of 2 bytes",
    ),
)


# --- The refinement: the state of the reference that the fast cache stands for


def abstract_state(adapter: Adapter) -> State:
    """Build the state of the reference that the fast cache stands for.

    Raises:
        AssertionError: what the cache keeps does not agree with itself.
    """
    cache = adapter.cache
    held = {key: segment for segment in cache.ring for key in segment.entries}
    assert cache.where == held, "where an entry is found is not where it is"
    sizes = [kept.size_bytes for segment in cache.ring for kept in segment.entries.values()]
    assert cache.size_bytes == sum(sizes), "the bytes are not the sum of the sizes"
    return State({at: _segment(one) for at, one in enumerate(cache.ring)}, cache.current, cache.segment_bytes)


def _segment(one: FastSegment) -> Segment:
    entries = tuple(
        Entry(Place(CacheName(cache), Position(ledger, entry)), kept.size_bytes, 0, kept.value)
        for (cache, ledger, entry), kept in one.entries.items()
    )
    return Segment(entries, one.offset)


def comparable_state(state: State) -> State:
    """Remove the byte at which each entry starts."""
    return state._replace(
        segments={
            at: one._replace(entries=tuple(entry._replace(start=0) for entry in one.entries))
            for at, one in state.segments.items()
        }
    )


def fast_cache(kind: type[SegmentedCache] = SegmentedCache) -> FastCache:
    """Describe the fast cache, or one with a seeded fault."""
    return FastCache(
        lambda config: open_cache(config, kind), lambda adapter, op: adapter(op), abstract_state, comparable_state
    )


def negative_control(name: str) -> tuple[FastCache, str]:
    """Return the faulty implementation of this public name, and the sentence that says what is wrong with it."""
    if name in FAULTS:
        return fast_cache(FAULTS[name]), str(FAULTS[name].__doc__).strip()
    return walk_faulty_reference(SUBJECTS[name]), SUBJECTS[name].note


REFINED: Final = tuple(
    RefinementTask(scope, fast_cache(), *negative_control(name), is_quick)
    for scope, name, is_quick in (
        (EVERY, "segmented-full-advances", True),
        (COPIES, "segmented-rounded-before-the-test", True),
        (LEDGERS, "segmented-turns-backwards", False),
    )
)
"""The refinements; a pull request walks the quick ones."""
