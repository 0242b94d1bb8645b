"""The type of a system: what the suite has to know of one, as a record of parts, by who asks.

Each system builds its record in its own folder; the only list of them is `entrycache_conformance.systems`. Whoever
finds a system by its name is given a mapping. Nothing here knows any system, and what a part is handed of the suite
(a declaration, a case, a subject) is named in its description: their types stand above this one.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, Generic, NamedTuple, Protocol, Self, TypeVar

from entrycache_protocol.errors import BrokenSubject, UsageError
from entrycache_reference.rules import Judgement, Rule

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
    plan: Callable[..., CasePlan]
    themes: Mapping[str, Any]
    distinguishing: Mapping[str, int]
    smoke: Mapping[str, list[dict[str, Any]]]
    unvaried: frozenset[str]
    unsupported_reason: Callable[[Any, C, Sequence[O]], str]
    shows_at: Mapping[str, frozenset[str]] = MappingProxyType({})
    cost_bound: Callable[[C, Sequence[O]], int] = lambda config, steps: len(steps)
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


class SeededFaults(NamedTuple):
    """The planted faults of the reference, each with its `rule`, its `note` and its `model`: one a rule, and others.

    `flips` tells those that are derived from a decision table, where there is one.
    """

    own: tuple[Any, ...]
    others: tuple[Any, ...] = ()
    flips: Callable[[], tuple[Any, ...]] = tuple


class LocalSubject(NamedTuple):
    """A cache of ours as a subject: what it offers, as a start answer says it, and how an instance is opened.

    `open_shared`: one that several threads may call; `open_told`: one that tells its rows to a listener.
    """

    offer: dict[str, Any]
    open: Callable[[Any], Instance]
    open_shared: Callable[[Any], Instance] | None = None
    open_with_rows: Callable[[Any, Callable[[Any], None]], Instance] | None = None


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
    judge: Callable[[Any, Any, Any], Judgement]
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
    fast: LocalSubject | None = None
    faults: Mapping[str, LocalSubject] = MappingProxyType({})
    seeded_faults: SeededFaults = SeededFaults(())
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


def rules_with_prefix(prefix: str) -> tuple[Rule, ...]:
    """The rules whose ids begin so."""
    return tuple(rule for rule in Rule if rule.value.startswith(prefix))


def index_ops(ops: Collection[type[Any]]) -> dict[str, type[Any]]:
    """The types of operations by the names of the operations."""
    return {op.name: op for op in ops}


# --- limits
# What the runner keeps out, because a subject cannot take it: the limits of a declaration.

MAX_SIZE_BYTES: Final = 2**31 - 1


def bounded_field(bound: int, default: int | None) -> Any:
    """A field of a limit that is a number of that much or more."""
    return field(default=default, metadata={"least": bound})


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits that every system has; a system adds its own.

    `max_steps` of a run, `max_size` of an entry. `threads`: the most clients of a history; 1, the default, means
    that the subject takes no histories.
    """

    max_steps: int | None = bounded_field(1, None)
    max_size: int = bounded_field(0, MAX_SIZE_BYTES)
    threads: int = bounded_field(1, 1)

    @property
    def keeps_rules_out(self) -> bool:
        """Whether some rule can hardly be met within these limits."""
        return False

    def lifted(self) -> Self:
        """These limits but for those without which a subject still answers."""
        return dataclasses.replace(self, max_steps=None)

    def narrowest(self, other: Self) -> Self:
        """What both take."""
        values: dict[str, Any] = {}
        for each in dataclasses.fields(self):
            both = getattr(self, each.name), getattr(other, each.name)
            values[each.name] = min((value for value in both if value is not None), default=None)
        return type(self)(**values)


LimitsType = TypeVar("LimitsType", bound=Limits)


def read_limits(kind: type[LimitsType], given: dict[str, Any]) -> LimitsType:
    """The limits that the system knows; others are passed over, as a later suite may know them.

    Raises:
        BrokenSubject: one of them has the wrong type, or is too small.
    """
    values: dict[str, Any] = {}
    for limit in dataclasses.fields(kind):
        value = given.get(limit.name, limit.default)
        bound = limit.metadata.get("least")
        if value is not limit.default and bound is None and type(value) is not bool:
            raise BrokenSubject(f"the subject's start answer: limits.{limit.name} is not bool: {value!r}")
        if value is not limit.default and bound is not None and (type(value) is not int or value < bound):
            expected = f"expected an integer of {bound} or more"
            raise BrokenSubject(f"the subject's start answer: limits.{limit.name} is {value!r}, {expected}")
        values[limit.name] = value
    return kind(**values)


# --- plan
# What a system's makers say of one case before its first step.


class CasePlan(NamedTuple):
    """The configuration of one case, its operations, each as often as it weighs, and the maker of their arguments.

    `usual_steps`: one in so many steps is the last one; `make` takes an operation's name and the reference's state.
    `final_queries` gives the operations that a case ends with, from its last state: what a fault has left behind shows there.
    """

    config: Any
    menu: tuple[str, ...]
    steps_max: int
    usual_steps: int
    make: Callable[[str, Any], Any]
    final_queries: Callable[[Any], tuple[Any, ...]] = lambda state: ()


# --- draw
# How makers of cases ask for numbers: the same under Hypothesis, which shrinks, and from a seed, which is fast.

Draw = Callable[[int, int], int]
"""An integer between two bounds, both included; smaller answers lead to simpler cases."""


def choose(draw: Draw, items: Sequence[Any]) -> Any:
    """One of the items; the first is the simplest."""
    return items[draw(0, len(items) - 1)]


def seeded_draw(source: random.Random) -> Draw:
    """Draws from a seeded source, a good deal faster than its own."""
    part = source.random
    return lambda least, greatest: least + int(part() * (greatest - least + 1))


# --- blame
# What a system says for explaining a difference between a subject and its reference.


class Blame(NamedTuple):
    """The parts of a system that explaining a difference asks.

    `faults` are planted in the reference, each with its `rule` and its `model`; a later group is asked only where
    nothing in an earlier one answers as the subject did. `state_queries`, from a declaration and steps: operations that show
    a state and change none, as far as the subject offers them. `own_step`, from the state before a step, the reference's
    step, the operation, the subject's answer, what its looks showed afterwards and its declaration: the state before,
    the reference's step and the subject's own, as laws are asked about them. `is_about`, from two outcomes that differ
    and a row: whether that is where they differ. `general`: laws that almost any difference breaks. `leak`: the rule of
    what was not given back.
    """

    faults: Callable[[], Sequence[Sequence[Any]]]
    state_queries: Callable[[Any, Sequence[Any]], Sequence[Any]]
    own_step: Callable[[Any, Any, Any, Any, Mapping[Any, Any], Any], tuple[Any, Any, Any]]
    is_about: Callable[[Any, Any, Any], bool]
    general: frozenset[Rule]
    leak: Rule


# --- family
# What a family of released jars is: an adapter, and the releases that it is built for.


class AbsentRelease(NamedTuple):
    """A release that was asked for and is not run; `coordinates` are empty where there never was one."""

    subject: str
    coordinates: str
    resolves: bool
    reason: str


class JavaText(NamedTuple):
    """How a case becomes a Java file.

    `templates`: the folder of them, in `entrycache_conformance`; `test.java.j2` is the file's. `call` is the call of
    the template's method for a step; `fill` gives what stands in the template, for a case. A template that is not in
    the folder is looked for in `like`, that of a related system. `eras`: those of the releases that the file fits;
    none: all.
    """

    templates: str
    call: Callable[[Mapping[str, Any]], str]
    fill: Callable[[Mapping[str, Any]], dict[str, Any]]
    like: str = ""
    eras: tuple[str, ...] = ()


class Family(NamedTuple):
    """A folder of the Maven project with one adapter, and a folder in it for each release."""

    name: str
    """The folder, and the name of a subject before its colon where there is no alias: ``pulsar``."""
    title: str
    """What people call it."""
    system: str
    """The system that its releases implement."""
    coordinates: str
    """Group and artifact of the jar under test."""
    main: str
    """The class that serves the protocol."""
    modules: tuple[str, ...]
    """What else of the Maven project a driver is made of."""
    options: tuple[str, ...] = ()
    """What a driver's JVM is told besides."""
    absent: tuple[AbsentRelease, ...] = ()
    """Releases that were asked for and are not run."""
    text: JavaText | None = None
    """How a case becomes a stand-alone test of its jars."""
    alias: str = ""
    """The name of a subject before its colon, where it is another family's: each version belongs to one of them."""
    shares: tuple[str, ...] = ()
    """Files and folders of other families that its drivers are built from."""

    @property
    def called(self) -> str:
        """The name of a subject before its colon: ``pulsar``."""
        return self.alias or self.name

    @property
    def artifact(self) -> str:
        """The name of the jar under test, without its version."""
        return self.coordinates.partition(":")[2]

    @property
    def has_agent(self) -> bool:
        """Whether the released classes are given a virtual clock."""
        return "agent" in self.modules
