"""Generate seeded cases and check them under every law, definition and frame condition.

`generate_cases` generates plain cases over all levels, workload profiles and variants. `generate_scaled_cases`
scales such cases: the same steps with larger ids, sizes, times and names, and repeated for many entries. The name of
a field gives its kind, because units stand last in names. `find_broken_law` runs cases and returns the first broken
law. These runs are a fixed few, so they are no evidence that a law holds; they show that no law depends on a hidden
bound.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from enum import Enum
from functools import cache
from typing import Any, Final, NamedTuple, get_type_hints

from entrycache_conformance import generate, judge
from entrycache_evidence.core.models import find_definition
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.subject import open_local_subject
from entrycache_protocol.system import AnySystem, seeded_draw
from entrycache_reference.vocabulary import INTEGER_MAX, Position


def choose_variants(default: Any, source: random.Random) -> Any:
    """Choose some variants that differ from the default: half of the time a single one, otherwise each at random."""
    others = [(field.name, value) for field in fields(default) for value in _others(getattr(default, field.name))]
    alone = source.random() < 0.5
    chosen = [source.choice(others)] if alone else [one for one in others if source.random() < 0.5]
    return replace(default, **dict(chosen))


def choose_each_variant(default: Any, source: random.Random) -> Any:
    """Choose a value of each variant at random, the default included."""
    values = {field.name: getattr(default, field.name) for field in fields(default)}
    return replace(default, **{name: source.choice([value, *_others(value)]) for name, value in values.items()})


def _others(default: Any) -> list[Any]:
    return [value for value in type(default) if value is not default] if isinstance(default, Enum) else [not default]


# --- Scaled cases

SIZES: Final = frozenset(
    {"size", "bytes", "max_size_bytes", "max_reads_in_flight_bytes", "permits", "total_bytes", "storage_entry_size"}
)
TIMES: Final = frozenset(
    {
        *("nanos", "older_than_nanos", "ttl_nanos", "grace_millis", "acquire_timeout_millis"),
        *("start", "end", "time_from", "time_to", "earliest_end", "latest_start"),
        *("retention", "segment_interval", "window_size"),
    }
)
POSITIONS: Final = frozenset({"pos", "first", "last", "positions"})
LEDGERS: Final = frozenset({"ledger"})
NAMES: Final = frozenset({"cache", "cursor", "hold", "id", "ns", "store", "topic", "view", "read"})
KEYS: Final = frozenset({"key", "from_", "to", "prefix"})
TEXTS: Final = frozenset({"value"})
NUMBERS: Final = frozenset({"token", "timestamp", "offset", "partition"})
NESTED: Final = frozenset({"entries", "on_flush", "steps"})
COUNTS: Final = frozenset({"expected_reads"})
AS_THEY_ARE: Final = frozenset(
    {
        *(
            "backward",
            "below",
            "dirty",
            "fails",
            "global_thread",
            "headers",
            "isolation",
            "kind",
            "last_inclusive",
            "listens",
            "n",
            "old_values",
            "skip_cache",
            "threads",
        ),
        *("eviction", "evict_by_expected_reads", "evict_by_mark_deleted", "extend_recently_accessed", "max_requeues"),
        *(
            "acquire_queue",
            "answer",
            "ask",
            "dispatcher",
            "durable",
            "max_backlog_between",
            "max_entries",
            "min_backlog_cursors",
            "min_backlog_entries",
        ),
        *("invalidation", "mode", "storage", "reentry_budget", "segments", "to_inclusive", "variants", "watermark"),
    }
)

FACTORS: Final = (1, 1, 7, 1_009, 86_400, 2**20, 3_600_007, 2**31 + 1)
ROOM: Final = INTEGER_MAX // 8
"""The limit for the sum of all times, and for the sum of the sizes of all copies, of a scaled case."""
LEDGER_BITS: Final = (0, 0, 16, 31, 32, 40)
ENTRY_SHIFTS: Final = (0, 0, 1, 2**16, 2**31 - 2, 2**33)
NUMBER_SHIFTS: Final = (0, 0, 2**31, 2**40)
COUNT_SHIFTS: Final = (0, 0, 0, 0, 98, 70_000)
LENGTHS: Final = (1, 1, 1, 3, 200)
LONGEST: Final = 20_000
"""The greatest length of a value that is made from a shorter one."""
COPIES: Final = (1, 1, 1, 2, 3, 17, 60, 140)
GROUPS_MOST: Final = 12
"""The greatest number of copies of a cache or a namespace, since laws compare each with each."""
STEPS_MOST: Final = 700
UNDIVIDED_MOST: Final = 2**37
"""The greatest limit that is divided into segments of a gibibyte, if a configuration names no number of segments."""

Text = Callable[[str], str]
NAME_CHANGES: Final[tuple[Text, ...]] = (
    lambda name: name,
    lambda name: name,
    lambda name: "public/default/persistent/" + name,
    lambda name: name + "-" * (sum(map(ord, name)) % 5),
    lambda name: "\U0001f600" + name if sum(map(ord, name)) % 2 else "\ufb00" + name,
    lambda name: name * 40,
)


@dataclass(frozen=True, slots=True)
class Scaling:
    """The factors and shifts of one scaled case.

    A position becomes `ledger << bits`, unless the ledger is negative, and `entry + shift`.
    """

    sizes: int
    times: int
    ledger_bits: int
    entry_shift: int
    number_shift: int
    count_shift: int
    length: int
    name: Text
    key: Text

    def field(self, name: str, value: Any) -> Any:
        """Return the scaled value of a field."""
        if isinstance(value, str):
            return self._text(name, value)
        if isinstance(value, Position):
            return Position(self._ledger(value.ledger), value.entry + self.entry_shift)
        if isinstance(value, tuple) and name in POSITIONS:
            return tuple(self.field(name, one) for one in value)
        if isinstance(value, tuple) and name in NESTED:
            return tuple(self._nested(one) for one in value)
        if type(value) is not int:
            return value
        if name in COUNTS:
            return value + self.count_shift if value > 0 else value
        if name in LEDGERS:
            return self._ledger(value)
        factor = self.sizes if name in SIZES else self.times if name in TIMES else 1
        return value * factor + (self.number_shift if name in NUMBERS else 0)

    def whole(self, record: Any) -> Any:
        """Return a configuration or an operation with every field scaled."""
        names = [field.name for field in fields(record)]
        return replace(record, **{name: self.field(name, getattr(record, name)) for name in names})

    def _nested(self, record: Any) -> Any:
        """Return an operation inside another, or a pair of a key and its value, scaled."""
        if is_dataclass(record):
            return self.whole(record)
        key, value = record
        return self.field("key", key), self.field("value", value)

    def _text(self, name: str, value: str) -> str:
        if name in TEXTS:
            return value * max(1, min(self.length, LONGEST // max(1, len(value))))
        return self.key(value) if name in KEYS else self.name(value) if name in NAMES else value

    def _ledger(self, ledger: int) -> int:
        return ledger << self.ledger_bits if ledger >= 0 else ledger


class CopyRule(NamedTuple):
    """The field in which the copies of a step differ, and the function that makes the copies."""

    field: str
    copy: Callable[[Any, int], Any]


LEDGERS_OF_COPIES: Final = CopyRule("pos", lambda pos, at: Position(pos.ledger + 16 * at, pos.entry))
ENTRIES_OF_COPIES: Final = CopyRule("pos", lambda pos, at: Position(pos.ledger, pos.entry + at))
CACHES_OF_COPIES: Final = CopyRule("cache", lambda name, at: f"{name}{at}" if at else name)
KEYS_OF_COPIES: Final = CopyRule("key", lambda key, at: f"{key}{at}" if at else key)
SPACES_OF_COPIES: Final = CopyRule("ns", lambda name, at: f"{name}{at}" if at else name)
COPY_RULES: Final = (LEDGERS_OF_COPIES, ENTRIES_OF_COPIES, CACHES_OF_COPIES, KEYS_OF_COPIES, SPACES_OF_COPIES)
RANGE_ENDS: Final[Mapping[str, str]] = {"last": "pos", "to": "key"}
"""The ends of ranges that may move to the last copy, with the field that is copied."""


def scale_case(config: Any, steps: Sequence[Any], source: random.Random) -> tuple[Any, tuple[Any, ...]]:
    """Scale a configuration and steps; the random source chooses the factors."""
    scaling = Scaling(
        _choose_factor(source, SIZES, config, steps, max(COPIES)),
        _choose_factor(source, TIMES, config, steps, 1),
        source.choice(LEDGER_BITS),
        source.choice(ENTRY_SHIFTS),
        source.choice(NUMBER_SHIFTS),
        source.choice(COUNT_SHIFTS),
        source.choice(LENGTHS),
        source.choice(NAME_CHANGES),
        source.choice(NAME_CHANGES),
    )
    copies = source.choice(COPIES)
    echo = source.choice(
        [one for one in COPY_RULES if any(hasattr(step, one.field) for step in steps)] or COPY_RULES[:1]
    )
    if echo in (CACHES_OF_COPIES, SPACES_OF_COPIES):
        copies = min(copies, GROUPS_MOST)
    changed = [scaling.whole(step) for step in steps]
    room = config.max_size_bytes * scaling.sizes * source.choice((1, copies)) * source.choice((1, 1, scaling.length))
    most = UNDIVIDED_MOST if getattr(config, "segments", 1) is None else INTEGER_MAX
    return (
        replace(scaling.whole(config), max_size_bytes=min(room, most)),
        tuple(_repeat_steps(changed, echo, copies, source)),
    )


def _repeat_steps(steps: Sequence[Any], echo: CopyRule, copies: int, source: random.Random) -> Iterator[Any]:
    """Repeat most steps about one entry for its copies, and widen most ranges to the last copy."""
    count = 0
    for step in steps:
        if count >= STEPS_MOST:
            return
        fits = isinstance(getattr(step, echo.field, None), str | Position)  # else it is about none, or about all
        number = copies if fits and source.random() < 0.7 else 1
        if fits:
            value = getattr(step, echo.field)
            yield from (replace(step, **{echo.field: echo.copy(value, at)}) for at in range(number))
        else:
            yield _widen_step(step, echo, copies, source)
        count += number


def _widen_step(step: Any, echo: CopyRule, copies: int, source: random.Random) -> Any:
    """Widen, at random, the range or the amount of a step that is not about a single entry."""
    if source.random() < 0.5:
        return step
    ends = {name: echo.copy(getattr(step, name), copies - 1) for name, of in RANGE_ENDS.items()
            if of == echo.field and isinstance(getattr(step, name, None), str | Position)}  # fmt: skip
    amount = {"bytes": step.bytes * copies} if getattr(step, "bytes", 0) else {}
    return replace(step, **ends, **amount)


def _choose_factor(source: random.Random, names: frozenset[str], config: Any, steps: Sequence[Any], copies: int) -> int:
    """Choose a factor that keeps the sum of all fields with these names within the room."""
    total = sum(abs(value) for record in (config, *steps) for value in _numbers(record, names))
    fit = [factor for factor in FACTORS if total * factor * copies <= ROOM]
    return source.choice(fit or [1])


def _numbers(record: Any, names: frozenset[str]) -> Iterator[int]:
    for field in fields(record):
        value = getattr(record, field.name)
        if field.name in names and type(value) is int:
            yield value
        if field.name in NESTED and isinstance(value, tuple):
            for one in value:
                yield from _numbers(one, names) if is_dataclass(one) else ()


# --- Generated cases

SEED: Final = 16

PLAIN_CASES: Final = 160
SCALED_CASES: Final = 240
SCALED_CASES_IN_CI: Final = 64
"""The numbers of plain cases, of scaled cases, and of scaled cases in a pull request."""


def generate_cases(
    system: AnySystem, number: int, coverage: judge.Coverage | None, fast: bool = False
) -> Iterator[tuple[Declaration, generate.GeneratedCase]]:
    """Generate cases one after another, over levels and workload profiles; every third one under other variants.

    A level that no other one contains is left to bounded models and to scaled cases.
    """
    profiles = _profiles(system)
    levels = [level for level in system.levels if not system.is_apart(level)]
    offered = open_local_subject("fast", system, system.fast).declaration if fast and system.fast else None
    for at in range(number):
        source = random.Random(f"{SEED} {at}")
        level = levels[-1 - at % len(levels)]
        variants = (
            choose_variants(system.model.variants(), source) if at % 3 == 2 and not fast else system.model.variants()
        )
        declaration = offered or _declare_all(system, variants)
        menu = system.cases.menu(declaration.ops_up_to(level), level)
        profile = profiles[at // len(levels) % len(profiles)]
        yield declaration, generate.make_case(seeded_draw(source), declaration, menu, coverage, workload=profile)


def generate_scaled_cases(system: AnySystem, number: int = SCALED_CASES) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """Generate scaled cases of all operations, every second one under other variants.

    Their ids, names, sizes, times and lengths have another magnitude, and some steps are repeated for many entries.
    """
    profiles = _profiles(system)
    level = system.levels[-1]
    menu = system.cases.menu(tuple(system.ops), level)
    for at in range(number):
        source = random.Random(f"{SEED} far {at}")
        variants = choose_variants(system.model.variants(), source) if at % 2 else system.model.variants()
        generated = generate.make_case(
            seeded_draw(source), _declare_all(system, variants), menu, None, workload=profiles[at // 2 % len(profiles)]
        )
        yield scale_case(generated.case.config, generated.case.steps, source)


MIXED_CASES: Final = 240
MIXED_CASES_IN_CI: Final = 120
INSERTION_RATE: Final = 0.45
"""The numbers of mixed cases, of those in a pull request, and how often a further operation follows in one."""
MANY_OPERATIONS: Final = 20
"""The number of operations from which on some of them are rare."""
SAME_VALUES: Final[Mapping[str, str]] = {"first": "pos", "last": "pos", "from_": "key", "to": "key", "prefix": "key"}
"""The fields that may take the values of another one."""


def generate_mixed_cases(system: AnySystem, number: int = MIXED_CASES) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """Generate cases under every variant into which operations of all kinds are inserted, each kind equally often.

    The weights of generated cases make some operations rare, and an operation under one variant rarer still. What is
    inserted takes its arguments from the steps before it. In a system of few operations none of them is rare.
    """
    if len(system.ops) < MANY_OPERATIONS:
        return
    profiles, kinds = _profiles(system), [kind for kind in system.ops.values() if not _writes_into_namespace(kind)]
    menu = system.cases.menu(tuple(system.ops), system.levels[-1])
    for at in range(number):
        source = random.Random(f"{SEED} mixed {at}")
        declaration = _declare_all(system, choose_each_variant(system.model.variants(), source))
        generated = generate.make_case(
            seeded_draw(source), declaration, menu, None, workload=profiles[at % len(profiles)]
        )
        yield generated.case.config, tuple(_insert_operations(generated.case.steps, kinds, source))


def _writes_into_namespace(kind: type[Any]) -> bool:
    """Return whether an operation names a namespace and keys: the namespace of a store holds keys of its own form."""
    names = {field.name for field in fields(kind)}
    return "ns" in names and bool(names & {"key", "entries"})


def _insert_operations(steps: Iterable[Any], kinds: Sequence[type[Any]], source: random.Random) -> Iterator[Any]:
    values: dict[tuple[str, str], list[Any]] = {}
    for step in steps:
        yield step
        for field in fields(step):
            values.setdefault((field.name, str(field.type)), []).append(getattr(step, field.name))
        while source.random() < INSERTION_RATE:
            inserted = _build_operation(source.choice(kinds), values, source)
            yield from () if inserted is None else (inserted,)


def _build_operation(kind: type[Any], values: Mapping[tuple[str, str], list[Any]], source: random.Random) -> Any:
    """Build an operation of which each field has a value that such a field had before, or None if one never had any."""
    arguments = {}
    for field in fields(kind):
        names = field.name, SAME_VALUES.get(field.name, "")
        known = next((values[name, str(field.type)] for name in names if (name, str(field.type)) in values), None)
        has_default = field.default is not MISSING or field.default_factory is not MISSING
        if known is not None and not (has_default and source.random() < 0.3):
            arguments[field.name] = source.choice(known)
        elif not has_default:
            return None
    return kind(**arguments)


def _profiles(system: AnySystem) -> list[Any]:
    """Return no workload profile, and all profiles but those of long runs."""
    return [None, *(profile for name, profile in system.cases.workloads.items() if not name.startswith("long"))]


def _declare_all(system: AnySystem, variants: Any) -> Declaration:
    """Declare a subject that has every operation and setting."""
    return Declaration(system, frozenset(system.ops), None, {}, variants, system.wire.introspection, payload=True)


# --- The check of runs

ITEM_COUNT: Final = 5_100
"""The number of items of each collection in the large states that runs begin in."""
ITEM_COUNT_IN_CI: Final = 2_050
"""The same number in a pull request, where there is less time."""

TYPE_CHECK_INTERVAL: Final = 16
"""The interval of steps at which the types of the state's values are checked."""

CONFIGURED_FIELDS: Final = frozenset({"settings", "max_size_bytes", "segment_bytes", "limiter"})
"""The fields of the first state that the configuration sets; all other fields are 0, absent or empty."""


def _is_empty(value: Any) -> bool:
    """Return whether a value is empty; numbered parts such as segments exist from the start."""
    if isinstance(value, Mapping):
        return all(isinstance(key, int) and _is_empty(one) for key, one in value.items())
    return all(map(_is_empty, value)) if isinstance(value, tuple) else not value


@cache
def _typed_fields(of: type[Any]) -> tuple[tuple[str, type[Any]], ...]:
    """Return the boolean and the integer fields of a record, by its annotations."""
    hints = {name: getattr(hint, "__supertype__", hint) for name, hint in get_type_hints(of).items()}
    return tuple((name, hint) for name, hint in hints.items() if hint in {bool, int})


def _find_type_error(value: Any) -> str:
    """Describe a field that holds an integer for a boolean or the reverse; empty if there is none."""
    if not isinstance(value, tuple | dict):
        return ""
    if isinstance(value, dict):
        return next((wrong for one in value.values() if (wrong := _find_type_error(one))), "")
    if not hasattr(value, "_fields"):
        return next((wrong for one in value if (wrong := _find_type_error(one))), "")
    for name, kind in _typed_fields(type(value)):
        if type(getattr(value, name)) is not kind:
            return f"{type(value).__name__}.{name} is {getattr(value, name)!r}, expected {kind.__name__}"
    return next((wrong for one in value if (wrong := _find_type_error(one))), "")


def find_broken_law(system: AnySystem, runs: Iterable[tuple[Any, Iterable[Any]]]) -> str:
    """Describe the first law that the reference breaks in these runs; empty if there is none.

    A state in place of a step is where the run goes on. So a run reaches sizes that would take too many steps.
    """
    definition = find_definition(system)
    for number, (config, steps) in enumerate(runs):
        state = system.model.initial(config)
        if not all(
            _is_empty(value) for name, value in zip(state._fields, state, strict=True) if name not in CONFIGURED_FIELDS
        ):
            return f"the first state is not empty at step 0 of run {number}"
        for at, event in enumerate(steps):
            if isinstance(event, type(state)):
                state = event
                continue
            try:
                state = judge.step_with_laws(system, config, state, event, judge.Coverage(definition=definition)).state
            except judge.LawBroken as broken:
                said = str(broken).removeprefix("the reference breaks ").partition(" at ")[0]
                return f"{said} at step {at} ({event.name}) of run {number}"
            wrong = _find_type_error(state) if at % TYPE_CHECK_INTERVAL == 0 else ""
            if wrong:
                return f"{wrong} at step {at} ({event.name}) of run {number}"
    return ""
