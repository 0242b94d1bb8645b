"""Lemmas about bytes of `kafka-streams`: sums, shares, and the size of texts of any length.

The reference's own functions run on sizes that may be any number. A namespace is one entry, which the operation names,
and a second one for all others; another namespace is one entry. A text is the number of its characters of each of the
four kinds of UTF-8; `tests/evidence/test_ties.py` checks this summary on real texts.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import product
from typing import Any, Final, NamedTuple

import z3

from entrycache_evidence.core.models import FAULT_OF
from entrycache_evidence.induction.lemma import Lemma, LemmaFault, Obligation, build_term_model, law_obligations
from entrycache_evidence.induction.symbolic import Term, paths, raw
from entrycache_faults.model import Model, Place
from entrycache_reference.kafka_streams import ops, outcomes
from entrycache_reference.kafka_streams.config import Config, Total, Variants
from entrycache_reference.kafka_streams.state import Listener, Node, Space, State, Step, initial, total_bytes
from entrycache_reference.rules import Rule

OWN, OTHER_ENTRY, OTHER_SPACE, NEW, TOTAL, LIMIT, LOWER = z3.Ints("own rest elsewhere new running limit lower")
"""The sizes of the entry, of the rest, of the other namespace and of a new entry, the total and the limits."""

SIZES: Final = z3.And(OWN >= 0, OTHER_ENTRY >= 0, OTHER_SPACE >= 0, NEW >= 0, LIMIT >= 0, LOWER >= 0)


class CacheContents(NamedTuple):
    """The values of the two entries, and the listener."""

    value: str | None
    dirty: bool
    rest_dirty: bool
    listener: Listener | None


_LISTENERS: Final = (None, Listener(), Listener((), 1))
ALL_CONTENTS: Final = tuple(
    CacheContents(*one) for one in product(("1", None), (False, True), (False, True), _LISTENERS)
)
"""All combinations of values and listeners."""


def build_node(value: str | None, dirty: bool, size: Any, write: int) -> Node:
    """Build an entry of any size."""
    return Node(value, dirty, Term(size), outcomes.Context(), write)  # type: ignore[arg-type]


def build_cache(held: CacheContents) -> State:
    """Build a cache with any limit and running total; `x` is the oldest entry of its namespace."""
    nodes = {"x": build_node(held.value, held.dirty, OWN, 1), "rest": build_node("1", held.rest_dirty, OTHER_ENTRY, 2)}
    dirty = tuple(key for key, node in nodes.items() if node.is_dirty)
    other = Space({"all": build_node("1", False, OTHER_SPACE, 3)}, ("all",))
    spaces = {"a": Space(nodes, ("rest", "x"), dirty, held.listener), "b": other}
    limit, running = Term(LIMIT), Term(TOTAL)
    return State(limit, spaces, writes=4, running=running)  # type: ignore[arg-type]


def holds_on_all_paths(way: Callable[[], Any], goal: Callable[[Any], Any]) -> Any:
    """Build the claim that the goal holds on every path through a function."""
    return z3.And([z3.Implies(condition, goal(answer)) for condition, answer in paths(way)])


def lemma_fault(rule: Rule) -> LemmaFault:
    """Return the seeded fault of a rule."""
    fault = FAULT_OF[rule]
    return LemmaFault(fault.note, fault.model)


# --- Sums

RUNNING: Final = Config(variants=Variants(total=Total.RUNNING))
SizeChange = Callable[[Model, State, Config], State]


def _put(key: str, value: str | None, dirty: bool) -> SizeChange:
    """Build a write of an entry of any size, with the eviction that follows, as `put` makes it."""

    def way(model: Model, state: State, config: Config) -> State:
        node = build_node(value, dirty, NEW, state.writes)
        after: State = model["entries.put_node"](state, "a", key, node, config, model["step.build_environment"]()).state
        return after

    return way


def _operation(op: ops.Op) -> SizeChange:
    def way(model: Model, state: State, config: Config) -> State:
        after: State = model["step.perform"](state, op, config)[0]
        return after

    return way


def _write(model: Model, state: State, config: Config) -> State:
    """Write an entry of any size, without the eviction that follows."""
    after: State = model["entries.write_node"](state, "a", "x", build_node("1", True, NEW, state.writes))
    return after


SIZE_CHANGES: Final[dict[str, SizeChange]] = {
    "put of a new key": _put("y", "1", True),
    "put of a tombstone over the key": _put("x", None, True),
    "clean put over the key": _put("x", "1", False),
    "put_if_absent": _operation(ops.PutIfAbsent("a", "x", "1")),
    "delete": _operation(ops.Delete("a", "x")),
    "delete of what is not there": _operation(ops.Delete("a", "y")),
    "evict": _operation(ops.Evict("a")),
    "flush": _operation(ops.Flush("a")),
    "clear": _operation(ops.Clear("a")),
    "close": _operation(ops.Close("a")),
    "resize": _operation(ops.Resize(Term(LOWER))),  # type: ignore[arg-type]
}
"""Every operation that changes sizes or the limit."""


def _drift_obligations(table: Any, model: Model) -> list[Obligation]:
    """Prove that the difference between the running total and the sum of sizes never changes; both begin with 0."""
    empty = initial(RUNNING)
    obligations = [Obligation("base", z3.BoolVal(True), z3.BoolVal(empty.running == total_bytes(empty) == 0))]
    for (name, way), held in product(SIZE_CHANGES.items(), ALL_CONTENTS):
        goal = holds_on_all_paths(
            lambda way=way, held=held: way(model, build_cache(held), RUNNING),  # type: ignore[misc]
            lambda after: raw(after.running) - raw(total_bytes(after)) == TOTAL - (OWN + OTHER_ENTRY + OTHER_SPACE),
        )
        obligations.append(Obligation(f"{name}, {held}", SIZES, goal))
    return obligations


def _overwrite_obligations(table: Any, model: Model) -> list[Obligation]:
    """Prove that a write over a key changes the sum by the difference of the two sizes, and is counted."""
    obligations = []
    for held in ALL_CONTENTS:
        state = build_cache(held)
        counted = z3.Int("overwrites")
        space = state.spaces["a"]._replace(overwrites=Term(counted))  # type: ignore[arg-type]
        after = _write(model, state._replace(spaces={**state.spaces, "a": space}), Config())
        sums = raw(total_bytes(after)) == NEW + OTHER_ENTRY + OTHER_SPACE
        obligations.append(Obligation(str(held), SIZES, z3.And(sums, raw(after.spaces["a"].overwrites) == counted + 1)))
    return obligations


def _delete_obligations(table: Any, model: Model) -> list[Obligation]:
    """Prove that a deletion subtracts the size of its key and answers its value."""
    obligations = []
    for held in ALL_CONTENTS:
        after, answer = model["step.perform"](build_cache(held), ops.Delete("a", "x"), Config())
        is_answered = z3.BoolVal(answer == outcomes.Deleted(True, held.value))
        obligations.append(
            Obligation(str(held), SIZES, z3.And(is_answered, raw(total_bytes(after)) == OTHER_ENTRY + OTHER_SPACE))
        )
    return obligations


def _usage_obligations(table: Any, model: Model) -> list[Obligation]:
    """Prove that `usage` answers the sums of each namespace and of all."""
    obligations = []
    for held in ALL_CONTENTS:
        queries = (ops.Usage(), ops.Usage("a"), ops.Usage("b"))
        used: list[outcomes.Used] = [model["step.perform"](build_cache(held), op, Config())[1] for op in queries]
        every, one, other = (raw(answer.bytes) for answer in used)
        entries = z3.BoolVal([answer.entries for answer in used] == [3, 2, 1])
        sums = z3.And(
            one == OWN + OTHER_ENTRY, other == OTHER_SPACE, every == one + other, raw(used[0].tracked) == every
        )
        obligations.append(Obligation(str(held), SIZES, z3.And(entries, sums)))
    return obligations


SCOPE: Final = "an entry, the rest of its namespace as one, another namespace as one; any sizes and limits"

SUM_LEMMAS: Final = (
    Lemma(
        Rule.K_METRICS_4,
        f"running total less sum of all sizes: kept by every write, removal, flush and resize whose listener does "
        f"nothing, throws or is not there; {SCOPE}",
        _drift_obligations,
        lemma_fault(Rule.K_METRICS_4),
    ),
    Lemma(
        Rule.K_METRICS_1, f"usage of a namespace and of all; {SCOPE}", _usage_obligations, lemma_fault(Rule.K_METRICS_1)
    ),
    Lemma(
        Rule.K_PUT_2,
        f"a write over a key, before its overflow; {SCOPE}",
        _overwrite_obligations,
        lemma_fault(Rule.K_PUT_2),
    ),
    Lemma(Rule.K_DELETE_1, f"a deletion of a key; {SCOPE}", _delete_obligations, lemma_fault(Rule.K_DELETE_1)),
)
"""The lemmas about sums."""


# --- Shares

_BYTES, _THREADS = z3.Ints("bytes threads")


def _share_obligations(table: Any, model: Model) -> list[Obligation]:
    """Prove that shares are equal and rounded down; the global thread takes one, and without threads it takes all."""
    obligations = []
    for is_global in (False, True):

        def way(is_global: bool = is_global) -> Any:
            event = ops.Share(Term(_BYTES), Term(_THREADS), is_global)  # type: ignore[arg-type]
            return raw(model["step.perform"](initial(Config()), event, Config())[1].bytes)

        takers = _THREADS + int(is_global)
        goal = holds_on_all_paths(
            way,
            lambda answer, takers=takers: z3.If(  # type: ignore[misc]
                _THREADS == 0, answer == _BYTES, z3.And(answer * takers <= _BYTES, (answer + 1) * takers > _BYTES)
            ),
        )
        name = "with a global thread" if is_global else "without"
        obligations.append(Obligation(name, z3.And(_BYTES >= 0, _THREADS >= 0), goal))
    return obligations


SHARE_LEMMAS: Final = (
    Lemma(Rule.K_SHARE_1, "any number of bytes and of threads", _share_obligations, lemma_fault(Rule.K_SHARE_1)),
)
"""The lemma about shares."""


# --- Sizes of texts


class Kind(NamedTuple):
    """The characters that UTF-8 writes with the same number of bytes, by their first and last code point."""

    first: int
    last: int
    bytes: int

    @property
    def units(self) -> int:
        """The number of UTF-16 units."""
        return 2 if self.first >= FIRST_OF_PAIRS else 1


FIRST_OF_PAIRS: Final = 0x10000
KINDS: Final = (
    Kind(0, 0x7F, 1),
    Kind(0x80, 0x7FF, 2),
    Kind(0x800, 0xFFFF, 3),
    Kind(FIRST_OF_PAIRS, 0x10FFFF, 4),
)


class _Bytes(NamedTuple):
    length: Any


class Letter(NamedTuple):
    """Any character of a kind, and the number of its repetitions."""

    code: Any
    times: Any


_run: list[Any] = [1]
"""The number of repetitions of the current character."""


class Text:
    """A text of any length."""

    def __init__(self, name: str) -> None:
        self.letters = tuple(
            Letter(z3.Int(f"{name}.letter{kind.bytes}"), z3.Int(f"{name}.times{kind.bytes}")) for kind in KINDS
        )

    @property
    def sane(self) -> Any:
        """The constraints of every text."""
        said = [letter.times >= 0 for letter in self.letters]
        for kind, letter in zip(KINDS, self.letters, strict=True):
            said += [letter.code >= kind.first, letter.code <= kind.last]
        return z3.And(said)

    def encode(self, encoding: str, errors: str) -> _Bytes:
        """Encode the text; only the number of bytes is known."""
        of_each = {"utf-8": [kind.bytes for kind in KINDS], "utf-16-le": [2 * kind.units for kind in KINDS]}[encoding]
        assert errors == "surrogatepass"
        return _Bytes(Term(sum(each * letter.times for each, letter in zip(of_each, self.letters, strict=True))))

    def __bool__(self) -> bool:
        return bool(Term(z3.Or([letter.times > 0 for letter in self.letters])))

    def __iter__(self) -> Iterator[Letter]:
        for letter in self.letters:
            _run[0] = Term(letter.times)
            yield letter
        _run[0] = 1


def _length(value: Any) -> Any:
    return value.length if isinstance(value, _Bytes) else len(value)


def _sum(values: Iterable[Any]) -> Any:
    """Sum values, each as often as its character is repeated."""
    total: Any = 0
    for value in values:
        total = _run[0] * value + total
    return total


def _code(letter: Letter) -> Any:
    return Term(letter.code)


TEXT_FUNCTIONS: Final[dict[Place, object]] = {"change.len": _length}
TEXT_FUNCTIONS_OF_LAWS: Final[dict[Place, object]] = {
    "laws.entries.len": _length,
    "laws.entries.sum": _sum,
    "laws.entries.ord": _code,
}
KEY, VALUE, TOPIC, *HEADERS = (Text(name) for name in ("key", "value", "topic", "name", "content", "names", "contents"))
_ALL: Final = (KEY, VALUE, TOPIC, *HEADERS)


def _size_obligations(table: Any, model: Model) -> Iterator[Obligation]:
    """Check the law after a write of a value or a tombstone, with two headers, one or none."""
    term_model = build_term_model(model, TEXT_FUNCTIONS)
    law_model = build_term_model(Model(model.package), TEXT_FUNCTIONS_OF_LAWS)
    law = next(law for law in law_model["laws.LAWS"] if law.rule is Rule.K_SIZE_1)
    given = z3.And([text.sane for text in _ALL])
    pairs = tuple(zip(HEADERS[::2], HEADERS[1::2], strict=True))
    for value in (VALUE, None):
        for number in range(len(pairs) + 1):
            headers: Any = pairs[:number]
            event = ops.Put("a", KEY, value, topic=TOPIC, headers=headers)  # type: ignore[arg-type]

            def played(event: ops.Put = event) -> Step:
                _run[0] = 1
                done: Step = term_model.step(PRE, event, PLENTY)
                return done

            def judged(step: Step, event: ops.Put = event) -> tuple[bool, bool]:
                _run[0] = 1
                is_about = bool(law.guard(PLENTY, PRE, event, step))
                return is_about, not is_about or bool(law.holds(PLENTY, PRE, event, step))

            name = f"{'a tombstone' if value is None else 'a value'}, {number} headers"
            yield from law_obligations(name, given, paths(played, given), judged)


PLENTY: Final = Config()
PRE: Final = State(Term(z3.Int("limit")))  # type: ignore[arg-type]

SIZE_LEMMAS: Final = (
    Lemma(
        Rule.K_SIZE_1,
        "the law itself, after a put into an empty cache that keeps it; key, value, topic and headers of any length, "
        "up to two headers, the second of which may stand for any others",
        _size_obligations,
        lemma_fault(Rule.K_SIZE_1),
    ),
)
"""The lemma about sizes."""

LEMMAS: Final = (*SUM_LEMMAS, *SHARE_LEMMAS, *SIZE_LEMMAS)
"""All lemmas about bytes."""
