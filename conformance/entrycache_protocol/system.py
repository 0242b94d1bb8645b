"""The description of a cache system: everything that the suite has to know of one, as a record of parts.

A `System` has a name, levels and operations, and one part for each reader: `Model` (the reference), `Laws`, `Wire`
(its JSON), `Cases` (how cases are generated), `Text` (how states are shown to people), `Blame` (how a failure is
explained), its subjects of this process, its `SeededFaults`, its released jars (`Family`) and its `Histories`.

Each system builds its record in its own folder; `entrycache_conformance.systems` is the only list of them. Code that
looks a system up by its name takes a mapping, so nothing here knows any system. A part that gets a declaration, a
case or a subject names it in its description, because those types stand above this module.
"""

from __future__ import annotations

import dataclasses
import difflib
import random
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar, Final, Generic, NamedTuple, Protocol, Self, TypeVar

from entrycache_protocol.errors import BrokenSubject, UsageError
from entrycache_reference.rules import Judgement, Rule

C = TypeVar("C")
"""The configurations of a system."""

S = TypeVar("S")
"""The states of a system."""

O = TypeVar("O")  # noqa: E741 -- an operation
"""The operations of a system."""

R = TypeVar("R")
"""The outcomes of a system."""

Instance = Callable[[Any], Any]
"""An instance under test: a function from an operation to its outcome."""

Draw = Callable[[int, int], int]
"""A source of integers between two bounds, both included; smaller integers lead to simpler cases.

Generators get all their numbers from it: a seeded source in the search, Hypothesis in state machines.
"""


def choose(draw: Draw, items: Sequence[Any]) -> Any:
    """Draw one of the items; the first is the simplest."""
    return items[draw(0, len(items) - 1)]


def seeded_draw(source: random.Random) -> Draw:
    """Return draws from a seeded source, much faster than the source's own method."""
    part = source.random
    return lambda least, greatest: least + int(part() * (greatest - least + 1))


def recording_draw(source: random.Random, choices: list[int]) -> Draw:
    """Return the draws of `seeded_draw`, which also append each number to `choices`."""
    part, record = source.random, choices.append

    def draw(least: int, greatest: int) -> int:
        value = least + int(part() * (greatest - least + 1))
        record(value)
        return value

    return draw


MAX_SIZE_BYTES: Final = 2**31 - 1


def bounded_field(bound: int, default: int | None) -> Any:
    """Return a dataclass field for a limit that is a number of `bound` or more."""
    return field(default=default, metadata={"least": bound})


def step_field(default: Any, bound: int | None = None) -> Any:
    """Return a dataclass field for a limit that `StepLimits` checks step by step."""
    return field(default=default, metadata={"of_steps": True} | ({} if bound is None else {"least": bound}))


def option_field() -> Any:
    """Return a dataclass field for what no subject has to take: it is true only if the subject declares it."""
    return field(default=True, metadata={"of_steps": True, "undeclared": False})


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a subject that the runner respects; a system extends them by its own."""

    max_steps: int | None = bounded_field(1, None)
    """The most steps of a run."""
    max_size: int = bounded_field(0, MAX_SIZE_BYTES)
    """The greatest size of an entry."""
    threads: int = bounded_field(1, 1)
    """The most clients of a history; 1 means that the subject takes no histories."""
    defaults: bool = True
    """Without it each setting that varies is sent in each run, so no default of the subject applies."""
    namespaces: int | None = step_field(None, 1)
    """The most caches or namespaces of a run."""
    entry_size: int | None = step_field(None, 1)
    """The size of every entry, for a cache whose limit counts entries."""
    max_limit: int | None = step_field(None, 1)
    """The greatest `max_size_bytes` that a run sets."""
    zero_limit: bool = step_field(True)
    """Without it `max_size_bytes` is never 0, and has room for one entry."""

    optional_arguments: ClassVar[frozenset[tuple[str, str]]] = frozenset()
    """The arguments that no subject has to take, each with its operation."""
    levels_of: ClassVar[Mapping[str, frozenset[str]]] = MappingProxyType({})
    """The levels at which a limit or variant leaves something out; one that is not here may do so at each level."""

    @property
    def hides_rules(self) -> bool:
        """Return whether some rule can hardly be met within these limits."""
        return False

    @property
    def takes_histories(self) -> bool:
        """Return whether the subject takes histories of several threads."""
        return self.threads > 1

    @property
    def narrows_steps(self) -> bool:
        """Return whether the subject does not take every step of its system."""
        checked = (each for each in dataclasses.fields(self) if "of_steps" in each.metadata)
        return any(getattr(self, each.name) != each.default for each in checked)

    @property
    def least_limit(self) -> int:
        """The least `max_size_bytes` that the subject takes."""
        return 0 if self.zero_limit else self.entry_size or 1

    def clamp(self, max_size_bytes: int) -> int:
        """Return the nearest limit that the subject takes."""
        most = max_size_bytes if self.max_limit is None else min(max_size_bytes, self.max_limit)
        return max(self.least_limit, most)

    def find_contradiction(self, declaration: Any) -> str:
        """Return the first two parts of a declaration that cannot both be true; empty if there are none."""
        fixed, reads = declaration.fixed, "read" in declaration.ops
        entry, most = ("limits.entry_size", self.entry_size), ("limits.max_size", self.max_size)
        limit, most_limit = ("fixed.max_size_bytes", fixed.get("max_size_bytes")), ("limits.max_limit", self.max_limit)
        stored = ("fixed.storage_entry_size", fixed.get("storage_entry_size") if reads else None)
        same = {each.name: getattr(self, each.name) for each in dataclasses.fields(self) if each.name in fixed}
        at_most = [
            *((entry, most), (entry, most_limit), (limit, most_limit), (stored, most), (stored, entry)),
            *(() if self.zero_limit else ((entry, limit),)),
            *((("sizes", size), most) for size in declaration.sizes),
            *(((f"fixed.{name}", fixed[name]), (f"limits.{name}", own)) for name, own in same.items()),
        ]
        for (lower, low), (upper, high) in at_most:
            if type(low) is int and type(high) is int and low > high:
                return f"{lower} is {low}, and {upper} is {high}; expected {lower} not above {upper}"
        if limit[1] == 0 and not self.zero_limit:
            return "fixed.max_size_bytes is 0, and limits.zero_limit is false"
        hidden = declaration.introspection & declaration.uncompared.get("observe", frozenset())
        return f"introspection and uncompared.observe both name {sorted(hidden)[0]!r}" if hidden else ""

    @property
    def arguments(self) -> Mapping[str, Mapping[str, str]]:
        """The words about arguments that these limits stand for, as in `Declaration.arguments`."""
        return {}

    @property
    def uncompared(self) -> Mapping[str, frozenset[str]]:
        """The keys of answers that these limits leave uncompared, as in `Declaration.uncompared`."""
        return {}

    def lifted(self) -> Self:
        """Return these limits without those that a subject can exceed and still answer."""
        return dataclasses.replace(self, max_steps=None)

    def narrowest(self, other: Self) -> Self:
        """Return the limits that both respect."""
        values: dict[str, Any] = {}
        for each in dataclasses.fields(self):
            both = getattr(self, each.name), getattr(other, each.name)
            narrower = max if each.default is False else min
            values[each.name] = narrower((value for value in both if value is not None), default=None)
        return type(self)(**values)


LimitsType = TypeVar("LimitsType", bound=Limits)


MISSPELLED: Final = 0.8
"""The likeness, from 0 to 1, at which an unknown limit is taken for a known one with a slip."""


def read_limits(kind: type[LimitsType], given: dict[str, Any]) -> LimitsType:
    """Read the limits that the system knows, and ignore others: a later suite may know them.

    Raises:
        BrokenSubject: a limit has the wrong type, is too small, or has nearly the name of one that the system knows.
    """
    values: dict[str, Any] = {}
    known = [limit.name for limit in dataclasses.fields(kind)]
    for name in given.keys() - {*known}:
        if near := difflib.get_close_matches(name, known, 1, MISSPELLED):
            raise BrokenSubject(f"the subject's start answer: limits has no {name!r}; did you mean {near[0]!r}?")
    for limit in dataclasses.fields(kind):
        value = given.get(limit.name, limit.metadata.get("undeclared", limit.default))
        bound = limit.metadata.get("least")
        if value is not limit.default and bound is None and type(value) is not bool:
            raise BrokenSubject(f"the subject's start answer: limits.{limit.name} is not bool: {value!r}")
        if value is not limit.default and bound is not None and (type(value) is not int or value < bound):
            expected = f"expected an integer of {bound} or more"
            raise BrokenSubject(f"the subject's start answer: limits.{limit.name} is {value!r}, {expected}")
        values[limit.name] = value
    return kind(**values)


class CasePlan(NamedTuple):
    """The plan of one case, made before its first step."""

    config: Any
    """The configuration."""
    menu: tuple[str, ...]
    """The names of the operations, each as often as it weighs."""
    steps_max: int
    """The most steps."""
    typical_steps: int
    """The case ends at one in so many steps."""
    make: Callable[[str, Any], Any]
    """The function that makes an operation of this name for the reference's state."""
    final_queries: Callable[[Any], tuple[Any, ...]] = lambda state: ()
    """The operations that end the case, for its last state: they show what a fault has left behind."""
    pending: Callable[[], int] = lambda: 0
    """The number of operations that an earlier one has made already; `make` returns them next, whatever the name."""


class Blame(NamedTuple):
    """The functions by which a system explains a difference between a subject and its reference."""

    faults: Callable[[], Sequence[Sequence[Any]]]
    """Groups of seeded faults, each fault with its `rule` and its `model`. A later group is tried only if no fault of
    an earlier one answers as the subject did."""
    state_queries: Callable[[Any, Sequence[Any]], Sequence[Any]]
    """The operations that show a state and change none, for a declaration and steps."""
    own_step: Callable[[Any, Any, Any, Any, Mapping[Any, Any], Any], tuple[Any, Any, Any]]
    """The state before a step, the reference's step and the subject's own, in the form that laws take. The arguments
    are that state, the reference's step, the operation, the subject's answer, the answers to the state queries after
    it, and the declaration."""
    is_about: Callable[[Any, Any, Any], bool]
    """The predicate whether a row is about the place where two outcomes differ."""
    general: frozenset[Rule]
    """The rules whose laws almost any difference breaks."""
    leak: Rule
    """The rule that a leaked reference breaks."""
    order: Rule | None = None
    """The rule that a pass breaks if it takes an entry too early, for a subject with `order_slack`."""
    inner_rule: Callable[[Any, Any], Rule | None] = lambda done, answer: None
    """The rule of a read inside a call, if the subject's answer differs from the reference's step first there."""


class AbsentRelease(NamedTuple):
    """A requested release that is not tested; `coordinates` are empty if there never was such a release."""

    subject: str
    coordinates: str
    resolves: bool
    reason: str


class JavaText(NamedTuple):
    """The way in which a case becomes a Java file."""

    templates: str
    """The folder of the templates in `entrycache_conformance`; `test.java.j2` is that of the file."""
    call: Callable[[Mapping[str, Any]], str]
    """The call of the template's method for a step."""
    fill: Callable[[Mapping[str, Any]], dict[str, Any]]
    """The variables of the template for a case."""
    like: str = ""
    """The folder of a related system, for templates that this one does not have."""
    eras: tuple[str, ...] = ()
    """The eras of the releases that the file fits; empty: all."""


class Family(NamedTuple):
    """A family of released jars: a folder of the Maven project with one adapter, and a folder for each release."""

    name: str
    """The folder, and the prefix of a subject's name unless there is an alias: ``pulsar``."""
    title: str
    """The name that people use."""
    system: str
    """The system that its releases implement."""
    coordinates: str
    """Group and artifact of the jar under test."""
    main: str
    """The class that serves the protocol."""
    modules: tuple[str, ...]
    """Other modules of the Maven project that a driver is made of."""
    options: tuple[str, ...] = ()
    """Additional options of a driver's JVM."""
    absent: tuple[AbsentRelease, ...] = ()
    """Requested releases that are not tested."""
    text: JavaText | None = None
    """The way in which a case becomes a stand-alone test of its jars."""
    alias: str = ""
    """The prefix of another family that this one shares: each version belongs to one of them."""
    shares: tuple[str, ...] = ()
    """Files and folders of other families that its drivers are built from."""

    @property
    def called(self) -> str:
        """The prefix of a subject's name: ``pulsar``."""
        return self.alias or self.name

    @property
    def artifact(self) -> str:
        """The name of the jar under test, without its version."""
        return self.coordinates.partition(":")[2]

    @property
    def group_name(self) -> str:
        """The last part of the group; the Maven project has its version as a property of this name: ``pulsar``."""
        return self.coordinates.partition(":")[0].rpartition(".")[2]

    @property
    def has_agent(self) -> bool:
        """Return whether the agent gives the released classes a virtual clock."""
        return "agent" in self.modules


class AnyModel(Protocol):
    """A model with a first state and steps: a reference, or a reference with a seeded fault."""

    @property
    def initial(self) -> Callable[[Any], Any]:
        """The function from a configuration to the first state of a run."""

    @property
    def step(self) -> Callable[[Any, Any, Any], Any]:
        """The function from a state, an operation and the configuration to a step: state, outcome and rows."""


OrderedStep = Callable[[Any, Any, Any, Any], Any]
"""A step that follows a subject's order: from a state, an operation, the configuration and the subject's answer.

Without an answer its passes take the oldest entry first."""


class Model(NamedTuple, Generic[C, S, O]):
    """The reference of a system; `step` returns a step with the state, the outcome and the rows."""

    config: type[C]
    variants: type[Any]
    initial: Callable[[C], S]
    step: Callable[[S, O, C], Any]
    follow: Callable[[S, O, C, Any, Any], Any | None] | None = None
    """The step that a subject's answer leads to, if the promise allows several answers.

    The arguments are the state, the operation, the configuration, the reference's own step and the subject's answer.
    The result is None if the promise allows only the reference's answer, or forbids the subject's."""
    guiding: frozenset[str] = frozenset()
    """The names of the operations from which on answers may guide the reference."""
    allowed: Callable[[S, O, C, Any], Sequence[dict[str, Any]]] = lambda state, op, config, own: ()
    """The answers that the promise allows to a step, as JSON objects; none if it allows the reference's own alone.

    A key that may have any value is left out. The arguments are those of `follow`, without the subject's answer."""
    ordered: Callable[[Any, int], OrderedStep] | None = None
    """The steps of a model whose passes take entries in the order that a subject tells.

    The arguments are this model, or one with a seeded fault, and the `order_slack` of the subject."""
    unordered: Callable[[Any], Any] = lambda outcome: outcome
    """The function that drops the order of a removal queue from an outcome."""

    def is_guided(self, steps: Sequence[Any]) -> bool:
        """Return whether answers to these operations may guide the reference."""
        return any(type(op).name in self.guiding for op in steps) if self.guiding else False


class Laws(NamedTuple, Generic[C, S, O]):
    """The laws of a system, and everything that a run counts."""

    broken: Callable[..., tuple[Rule, ...]]
    """The rules whose laws a step breaks. The arguments are the configuration, the state, the operation, its step and,
    optionally, the counts of rules that fired."""
    table: tuple[Any, ...]
    """The laws, each with its `rule` and its predicate `holds`."""
    liveness: tuple[Rule, Rule]
    """The rules that a step breaks which never ends, and one which throws."""
    rules: tuple[Rule, ...]
    """The rules that runs count."""
    of_variants: frozenset[Rule]
    """The rules that fire under a variant only, or in cases that no subject gets."""
    cells: tuple[str, ...] = ()
    """The entries of the decision table, and the sides of thresholds."""
    count_cells: Callable[[C, S, O, Any, dict[str, int]], None] = lambda config, state, op, done, cells: None
    """The function that counts the entries which a step meets."""
    count_fired: Callable[..., None] | None = None
    """The function that counts what `broken` counts, and checks nothing. Without it a search checks every step."""


class Wire(NamedTuple, Generic[C, O, R]):
    """The JSON of a system."""

    read_outcome: Callable[[O, Any, Any], Any]
    """The reader of a subject's answer to an operation, under its declaration."""
    write_outcome: Callable[[Any], dict[str, Any]]
    """The inverse, for an outcome of the reference or of a subject."""
    outcome_schema: Callable[[type[Any]], dict[str, Any]]
    """The schema of the answers to an operation."""
    declared_part: Callable[[Any, frozenset[str]], Any]
    """The part of an outcome that is compared under an introspection."""
    refusal: R
    """An answer that refuses."""
    introspection: frozenset[str]
    """The parts of an observed state that a subject may declare."""
    limits: type[Limits]
    """The type of its limits."""
    computed: Callable[[C], dict[str, Any]] = lambda config: {}
    """The written values of configuration keys that have none."""


class LevelWorkload(NamedTuple):
    """A workload profile that belongs to some levels."""

    profile: Any
    levels: tuple[str, ...]


class Cases(NamedTuple, Generic[C, O]):
    """The generation of cases of a system."""

    menu: Callable[..., tuple[str, ...]]
    """The weighted menu of operations."""
    plan: Callable[..., CasePlan]
    """The plan of a case, for a draw, a declaration, a menu and a workload profile."""
    workloads: Mapping[str, Any]
    """The workload profiles by name."""
    distinguishing: Mapping[str, int]
    """The workload profiles that distinguish two releases, each with the number of steps of its cases."""
    smoke: Mapping[str, list[dict[str, Any]]]
    """One case for each operation."""
    unvaried: frozenset[str]
    """The keys of the configuration that no case varies."""
    unsupported_reason: Callable[[Any, C, Sequence[O]], str]
    """The reason why a case does not fit a declaration; empty if it fits."""
    visible_levels: Mapping[str, frozenset[str]] = MappingProxyType({})
    """The levels whose operations show a key of the configuration, for keys that do not show at every level."""
    cost_bound: Callable[[C, Sequence[O]], int] = lambda config, steps: len(steps)
    """The most entries that the reference copies for these steps: its time and its memory grow with them."""
    extra_workloads: Mapping[Any, int] = MappingProxyType({})
    """Further workload profiles of a run: one case of each to so many usual ones."""
    level_workloads: Mapping[str, LevelWorkload] = MappingProxyType({})
    """Further workload profiles by name. Each belongs to some levels, and only campaigns play it."""
    central: Mapping[str, tuple[frozenset[str], ...]] = MappingProxyType({})
    """The operations without which a level checks nothing: of each set, a subject must offer at least one."""


class Lane(NamedTuple):
    """A line of a drawing: boxes, each with its text and its kind (`entry`, `dead`, `dirty`, `cursor`)."""

    name: str
    boxes: tuple[tuple[str, str], ...]


class Text(NamedTuple, Generic[S]):
    """The way in which a state is shown to people: as text under the heading `name`, and as lanes of a drawing."""

    name: str
    state: Callable[[S], str]
    lanes: Callable[[S], tuple[Lane, ...]] = lambda state: ()
    at_level: Mapping[str, Text[S]] = MappingProxyType({})
    """Additional texts for cases with operations of a level."""


class SeededFaults(NamedTuple):
    """The seeded faults of the reference, each with its `rule`, its `note` and its `model`."""

    own: tuple[Any, ...]
    """One fault for each rule."""
    others: tuple[Any, ...] = ()
    """Further faults of rules that have one of their own."""
    flips: Callable[[], tuple[Any, ...]] = tuple
    """The faults that are derived from the decision table, if there is one."""


class LocalSubject(NamedTuple):
    """A subject of this process: its offer, as in a start answer, and the ways to open an instance."""

    offer: dict[str, Any]
    open: Callable[[Any], Instance]
    open_shared: Callable[[Any], Instance] | None = None
    """The way to open an instance that several threads may call."""
    open_with_rows: Callable[[Any, Callable[[Any], None]], Instance] | None = None
    """The way to open an instance that reports its rows to a callback."""


class Histories(NamedTuple):
    """The generation and the promises of histories, for a system with a level of threads."""

    kinds: tuple[Any, ...]
    """The kinds of histories."""
    make: Callable[[Any, Any, Any], Any]
    """The generator, for a draw, a declaration and a kind."""
    judge: Callable[[Any, Any, Any], Judgement]
    """The judge of a history, its events and a declaration."""
    is_sound: Callable[[Any], bool]
    """The predicate whether a shorter history is still about threads: one thread alone does nothing wrong in it."""
    unasked: Callable[[Any], frozenset[Rule]]
    """The rules that a declaration keeps out."""
    open_shared: Callable[[Any], Instance]
    """The way to open the reference for several threads."""
    ends: Rule
    """The rule that a history breaks which never ends."""
    throws: Rule
    """The rule that a history breaks in which a step throws."""
    rules: tuple[Rule, ...]
    """All rules of histories."""
    states_max: int
    """The most states of the search for an order."""
    faults: Mapping[str, Callable[[Any], Instance]]
    """The ways to open a faulty reference for several threads, by public name."""


class System(NamedTuple, Generic[C, S, O, R]):
    """One cache system. Its functions take and return its own states, operations and outcomes.

    A part that is None or empty does not exist in the system.
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
    """Our fast cache as a subject."""
    faults: Mapping[str, LocalSubject] = MappingProxyType({})
    """The seeded faults that are subjects, by public name."""
    seeded_faults: SeededFaults = SeededFaults(())
    """The seeded faults of the reference."""
    jvm: Family | None = None
    """Its released jars."""
    histories: Histories | None = None
    standalone: Mapping[str, frozenset[str]] = MappingProxyType({})
    """The levels that a subject may offer alone, each with the operations of other levels that it needs for that."""

    def own_ops(self, level: str) -> frozenset[str]:
        """Return the names of the operations that a level adds; `observe` belongs to all levels and so to none."""
        return frozenset(name for name, op in self.ops.items() if op.level == level and name != "observe")

    def is_apart(self, level: str) -> bool:
        """Return whether no other level contains this one: it needs no operation of a level before it."""
        borrowed = self.standalone.get(level)
        own = self.levels.index(level)
        return borrowed is not None and all(self.levels.index(self.ops[name].level) > own for name in borrowed)

    def ops_up_to(self, level: str, offered: Collection[str] | None = None) -> tuple[str, ...]:
        """Return the names of the operations of a level and of every level before it, but for levels apart.

        A standalone level is played alone with a subject that does not offer all operations of the level before it.
        """
        below = self.own_ops(self.levels[self.levels.index(level) - 1])
        is_alone = offered is not None and not below <= frozenset(offered)
        if level in self.standalone and (is_alone or self.is_apart(level)):
            return tuple(name for name, op in self.ops.items() if op.level == level or name in self.standalone[level])
        before = self.levels[: self.levels.index(level) + 1]
        wanted = [one for one in before if not self.is_apart(one)]
        return tuple(name for name, op in self.ops.items() if op.level in wanted)


AnySystem = System[Any, Any, Any, Any]
Systems = Mapping[str, AnySystem]


def system_named(name: str, systems: Systems) -> AnySystem:
    """Return the system of that name.

    Raises:
        UsageError: there is no such system; the line names those that there are.
    """
    if name not in systems:
        raise UsageError(f"system {name!r} is not built; expected one of: {', '.join(systems)}")
    return systems[name]


def rules_with_prefix(prefix: str) -> tuple[Rule, ...]:
    """Return the rules whose ids begin with a prefix."""
    return tuple(rule for rule in Rule if rule.value.startswith(prefix))


def index_ops(ops: Collection[type[Any]], without: Collection[str] = ()) -> dict[str, type[Any]]:
    """Return the types of operations by the names of the operations, but for those of the levels `without`."""
    return {op.name: op for op in ops if op.level not in without}
