"""The type of a system: what the suite has to know of one, as a record of parts, by who asks.

Each system builds its record in its own folder; the only list of them is `entrycache_conformance.systems`. Whoever
finds a system by its name is given a mapping. Nothing here knows any system, and what a part is handed of the suite
(a declaration, a case, a subject) is named in its description: their types stand above this one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from entrycache_protocol.blame import Blame
from entrycache_protocol.errors import UsageError
from entrycache_protocol.family import Family
from entrycache_protocol.limits import Limits
from entrycache_protocol.plan import Plan
from entrycache_reference.judged import Judged
from entrycache_reference.rules import Rule

C = TypeVar("C")
"""The system's configurations."""

S = TypeVar("S")
"""Its states."""

O = TypeVar("O")  # noqa: E741 -- an operation
"""Its operations."""

R = TypeVar("R")
"""Its outcomes."""

Instance = Callable[[Any], Any]
"""An instance under test: a function from an operation to its outcome."""


class AnyModel(Protocol):
    """What has a first state and steps: a reference, or a model of it with a planted fault."""

    @property
    def initial(self) -> Callable[[Any], Any]:
        """The state that a run begins with, by its configuration."""

    @property
    def step(self) -> Callable[[Any, Any, Any], Any]:
        """What a state, an operation and the configuration give: state, outcome and rows."""


class Model(NamedTuple, Generic[C, S, O]):
    """The reference. `step` takes a state, an operation and the configuration, and gives state, outcome and rows."""

    config: type[C]
    variants: type[Any]
    initial: Callable[[C], S]
    step: Callable[[S, O, C], Any]


class Laws(NamedTuple, Generic[C, S, O]):
    """What holds in every step, and what a run counts.

    `broken` takes a configuration, a state, an operation, its step and the counts of rules that fired, which may be
    left out, and tells the rules whose laws are broken. `table` holds the laws, each, with its `rule` and what `holds`.
    `liveness`: the rules that a step breaks which never ends, and one which throws. `rules` are those that runs count;
    those `of_variants` fire under a variant only, or in cases that no subject is asked. `cells` are the cells of the
    decision table, and the sides of thresholds; `count_cells` counts those that a step meets.
    """

    broken: Callable[..., tuple[Rule, ...]]
    table: tuple[Any, ...]
    liveness: tuple[Rule, Rule]
    rules: tuple[Rule, ...]
    of_variants: frozenset[Rule]
    cells: tuple[str, ...] = ()
    count_cells: Callable[[C, S, O, Any, dict[str, int]], None] = lambda config, state, op, done, cells: None


class Wire(NamedTuple, Generic[C, O, R]):
    """How the system is spoken of in JSON.

    `read_outcome` reads what a subject answers to an operation, under its declaration; `write_outcome` is its
    contrary, for an outcome of the reference or of a subject; `declared_part` is what is compared of an outcome
    under an introspection. `refusal` is an answer that refuses. `computed`: what stands in a written configuration
    for keys without a value. `other_ops`: operations of the protocol that are not built.
    """

    read_outcome: Callable[[O, Any, Any], Any]
    write_outcome: Callable[[Any], dict[str, Any]]
    outcome_schema: Callable[[type[Any]], dict[str, Any]]
    declared_part: Callable[[Any, frozenset[str]], Any]
    refusal: R
    introspection: frozenset[str]
    limits: type[Limits]
    computed: Callable[[C], dict[str, Any]] = lambda config: {}
    other_ops: frozenset[str] = frozenset()


class Cases(NamedTuple, Generic[C, O]):
    """How cases are made: `menu` and `plan`, by a theme of `themes`; `smoke` holds one case an operation.

    `distinguishing`: the themes that tell two releases apart, with the steps of a case of each. `unvaried`: keys of the
    configuration that no case varies; `shows_at`: keys that show in operations of some levels only. `unfit` says why
    a case cannot be asked under a declaration, empty where it can. `effort`: how many entries the reference copies at
    most while it plays these steps, which is what its time and its memory grow with. `extra_themes`: themes of which a run
    has cases too, one to so many usual ones.
    """

    menu: Callable[..., tuple[str, ...]]
    plan: Callable[..., Plan]
    themes: Mapping[str, Any]
    distinguishing: Mapping[str, int]
    smoke: Mapping[str, list[dict[str, Any]]]
    unvaried: frozenset[str]
    unfit: Callable[[Any, C, Sequence[O]], str]
    shows_at: Mapping[str, frozenset[str]] = MappingProxyType({})
    effort: Callable[[C, Sequence[O]], int] = lambda config, steps: len(steps)
    extra_themes: Mapping[Any, int] = MappingProxyType({})


class Lane(NamedTuple):
    """A line of a picture: boxes, each with its text and a mark of what it is (`entry`, `dead`, `dirty`, `cursor`)."""

    name: str
    boxes: tuple[tuple[str, str], ...]


class Text(NamedTuple, Generic[S]):
    """How a state is told to people: `state`, under the heading `name`, and drawn as `lanes`.

    `at_level`: what is told beside it in cases with operations of that level.
    """

    name: str
    state: Callable[[S], str]
    lanes: Callable[[S], tuple[Lane, ...]] = lambda state: ()
    at_level: Mapping[str, Text[S]] = MappingProxyType({})


class Planted(NamedTuple):
    """The planted faults of the reference, each with its `rule`, its `note` and its `model`: one a rule, and others.

    `flips` tells those that are derived from a decision table, where there is one.
    """

    own: tuple[Any, ...]
    others: tuple[Any, ...] = ()
    flips: Callable[[], tuple[Any, ...]] = tuple


class Own(NamedTuple):
    """A cache of ours as a subject: what it offers, as a start answer says it, and how an instance is opened.

    `open_shared`: one that several threads may call; `open_told`: one that tells its rows to a listener.
    """

    offer: dict[str, Any]
    open: Callable[[Any], Instance]
    open_shared: Callable[[Any], Instance] | None = None
    open_told: Callable[[Any, Callable[[Any], None]], Instance] | None = None


class Histories(NamedTuple):
    """What a level of threads has to know: how histories are made, and what is promised in them.

    `kinds` of histories; `make` takes a draw, a declaration and a kind; `judge` a history, what happened and a
    declaration. `is_sound`: whether a shorter history is still about threads, and not about what one thread does
    wrong already. `unasked`: the rules that a declaration keeps out. `open_shared` opens the reference for several
    threads. `ends`: the rule that a history breaks which never ends; `throws`: one in which a step throws; `rules`:
    all. `states_max`: the bound of the search for an order. `faults`: ways to open a faulty reference, by name.
    """

    kinds: tuple[Any, ...]
    make: Callable[[Any, Any, Any], Any]
    judge: Callable[[Any, Any, Any], Judged]
    is_sound: Callable[[Any], bool]
    unasked: Callable[[Any], frozenset[Rule]]
    open_shared: Callable[[Any], Instance]
    ends: Rule
    throws: Rule
    rules: tuple[Rule, ...]
    states_max: int
    faults: Mapping[str, Callable[[Any], Instance]]


class System(NamedTuple, Generic[C, S, O, R]):
    """One cache system. Functions take and give the system's own states, operations and outcomes.

    `blame` is what explaining a difference asks. `fast` is our fast cache, `faults` are the planted faults of it, by
    name; `seeded_faults` are those of the reference. `jvm`: its released jars. What is None or empty the system does not
    have.
    """

    name: str
    levels: tuple[str, ...]
    ops: Mapping[str, type[Any]]
    model: Model[C, S, O]
    laws: Laws[C, S, O]
    wire: Wire[C, O, R]
    cases: Cases[C, O]
    text: Text[S]
    blame: Blame
    fast: Own | None = None
    faults: Mapping[str, Own] = MappingProxyType({})
    seeded_faults: Planted = Planted(())
    jvm: Family | None = None
    histories: Histories | None = None

    def own_ops(self, level: str) -> frozenset[str]:
        """The names of the operations that a level adds; `observe` belongs to every level and so to none."""
        return frozenset(name for name, op in self.ops.items() if op.level == level and name != "observe")

    def ops_up_to(self, level: str) -> tuple[str, ...]:
        """The names of the operations of a level and of every level above it in the protocol."""
        wanted = self.levels[: self.levels.index(level) + 1]
        return tuple(name for name, op in self.ops.items() if op.level in wanted)


AnySystem = System[Any, Any, Any, Any]
Systems = Mapping[str, AnySystem]


def system_named(name: str, systems: Systems) -> AnySystem:
    """The system of that name.

    Raises:
        UsageError: no such system; the line names those that there are.
    """
    if name not in systems:
        raise UsageError(f"system {name!r} is not built; expected one of: {', '.join(systems)}")
    return systems[name]


def rules_of(prefix: str) -> tuple[Rule, ...]:
    """The rules whose ids begin so."""
    return tuple(rule for rule in Rule if rule.value.startswith(prefix))


def named(ops: Collection[type[Any]]) -> dict[str, type[Any]]:
    """The types of operations by the names of the operations."""
    return {op.name: op for op in ops}
