"""Strategies of Hypothesis that draw next to the state of a running state machine.

They need a machine that `entrycache.state_machine` made, and draw for its reference's present state: what is cached,
held or tracked, and numbers at and next to the thresholds of that state. The generators of the search make the values,
so a rule of a user's own aims as well as the rules of the suite.

`configs` and `operations` are the arguments of the machine's own rules. `arguments` draws arguments of one operation;
`entrycache.strategies` has short names for the usual ones.

`draw_workload` and `scale_weights` say how often a machine draws each workload profile and each operation.
"""

import json
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, Final

from hypothesis import stateful
from hypothesis import strategies as st

from entrycache_protocol import codec
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.errors import BrokenSubject, UsageError
from entrycache_protocol.subject import TestedSubject
from entrycache_protocol.system import AnySystem, Cases, Draw, choose, seeded_draw

RUNNER: Final = st.runner(default=None)
"""The strategy of the machine that is running; None outside a machine."""


def _machine(draw: Callable[[Any], Any]) -> Any:
    """Return the machine that is running.

    Raises:
        UsageError: none is.
    """
    machine = draw(RUNNER)
    if not hasattr(machine, "draw_steps"):
        expected = "expected in a rule of a class that entrycache.state_machine made"
        raise UsageError(f"this strategy draws next to the state of a running machine; {expected}")
    return machine


def _integers(draw: Callable[[Any], Any]) -> Draw:
    return lambda least, greatest: draw(st.integers(least, greatest))


@st.composite
def configs(draw: Callable[[Any], Any]) -> dict[str, Any]:
    """Draw the settings of a run that differ from the default, as they are in a case file."""
    settings: dict[str, Any] = _machine(draw).draw_config(_integers(draw))
    return settings


@st.composite
def operations(draw: Callable[[Any], Any], name: str) -> Any:
    """Draw the arguments of an operation, or a list of whole steps where the operation comes with others."""
    steps: list[dict[str, Any]] = _machine(draw).draw_steps(_integers(draw), name)
    if len(steps) == 1 and steps[0]["op"] == name:
        return {key: value for key, value in steps[0].items() if key != "op"}
    return steps


@st.composite
def arguments(draw: Callable[[Any], Any], operation: str, *names: str) -> Any:
    """Draw arguments of an operation: the value of one name, or a tuple of several; None for one that is absent."""
    machine = _machine(draw)
    _require_arguments(machine.case.system, operation, names)
    steps = machine.draw_steps(_integers(draw), operation)
    step: dict[str, Any] = next((each for each in steps if each["op"] == operation), {})
    values = tuple(_as_tuple(step.get(name)) for name in names)
    return values[0] if len(values) == 1 else values


def _require_arguments(system: AnySystem, operation: str, names: Sequence[str]) -> None:
    """Check that an operation takes these arguments, and at least one.

    Raises:
        UsageError: it does not.
    """
    if operation in system.ops:
        known = [each.name for each in codec.field_codecs(system.ops[operation])]
        for name in names or ("",):
            if name not in known:
                raise UsageError(f"{operation} of {system.name} has no argument {name!r}; it has: {', '.join(known)}")


def _as_tuple(value: Any) -> Any:
    return tuple(map(_as_tuple, value)) if isinstance(value, list) else value


SMALL: Final = "small-keys"
"""The workload profile with the fewest places, where operations meet most often."""


def extra_profiles(cases: Cases[Any, Any]) -> dict[Any, int]:
    """Return the workload profiles besides the default one: one example of each to so many usual ones."""
    small = {cases.workloads[SMALL]: 2} if SMALL in cases.workloads else {}
    return {**small, **cases.extra_workloads}


def draw_workload(draw: Draw, cases: Cases[Any, Any]) -> Any:
    """Draw a workload profile: the default one, a small one half as often, or another as often as in a search."""
    profiles = extra_profiles(cases)
    most = max(profiles.values(), default=1)
    return choose(
        draw, [None] * most + [profile for profile, one_to in profiles.items() for _ in range(most // one_to)]
    )


MENU_LENGTH: Final = 60
"""About the number of rules that are valid at once; an operation has as many as it weighs."""


def scale_weights(menu: Sequence[str]) -> dict[str, int]:
    """Return how many rules of each operation are valid under a menu."""
    share = min(1.0, MENU_LENGTH / len(menu))
    return {name: max(1, round(weight * share)) for name, weight in Counter(menu).items()}


SAMPLED_PLANS: Final = 40
"""The number of plans of each workload profile that show how much an operation may weigh."""


def greatest_weights(declaration: Declaration, menu: Sequence[str]) -> Mapping[str, int]:
    """Return how much each operation weighs at most in any plan."""
    cases, draw = declaration.system.cases, seeded_draw(random.Random(0))
    weights: Counter[str] = Counter()
    for workload in (None, *extra_profiles(cases)):
        for _ in range(SAMPLED_PLANS):
            weights |= Counter(scale_weights(cases.plan(draw, declaration, menu, workload).menu))
    return weights


# --- Rules of operations


def _operation_rule(name: str, number: int) -> Any:
    """Return a rule of an operation, which is valid if the operation weighs more than `number`.

    All rules have the name of the method `perform`, as a step list shows them. Hypothesis disables rules at random, by
    their names. The plan of a case does that here, so that small menus stay whole.
    """

    def is_planned(machine: Any) -> bool:
        return bool(machine.is_planned(name, number))

    def perform(self: Any, **operation: Any) -> None:
        __tracebackhide__ = True
        self._perform_drawn(operation)

    arguments: dict[str, Any] = {name: operations(name)}
    as_rule: Any = stateful.rule(**arguments)
    return stateful.precondition(is_planned)(as_rule(perform))


def operation_rules(declaration: Declaration, menu: Sequence[str]) -> dict[str, Any]:
    """Return as many rules of each operation as it weighs at most in any plan."""
    weights = greatest_weights(declaration, menu)
    return {f"_{name}_{number}": _operation_rule(name, number) for name in weights for number in range(weights[name])}


# --- Settings and steps


def fix_settings(subject: TestedSubject, config: Mapping[str, Any]) -> Declaration:
    """Return the declaration of a subject with settings that stay.

    Raises:
        UsageError: they are no settings, or the subject does not take one.
    """
    declaration = subject.declaration
    if not isinstance(config, Mapping):
        got = f"an instance of {type(config).__name__}"
        raise UsageError(f'state_machine: config: got {got}; expected settings, such as {{"max_size_bytes": 100}}')
    cases = replace(declaration, fixed={**declaration.fixed, **config})
    try:
        cases.base_config()
    except BrokenSubject as error:
        raise UsageError(f"state_machine: config: {str(error).rpartition('fixed: ')[2]}") from None
    for name in sorted(config.keys() - declaration.sent_keys):
        takes = ", ".join(sorted(declaration.sent_keys)) or "none"
        raise UsageError(f"state_machine: config: {subject.name} does not take the setting {name!r}; it takes: {takes}")
    return cases


def read_steps(subject: TestedSubject, operation: Mapping[str, Any]) -> list[Any]:
    """Return the typed steps of an operation with its arguments, or with a list of whole steps.

    Raises:
        UsageError: there is no such operation, or it does not take these arguments.
    """
    usage = 'expected one operation with its arguments, such as get={"cache": "a", "pos": (1, 0)}'
    if len(operation) != 1:
        raise UsageError(f"got {len(operation)} operations; {usage}")
    ((name, args),) = operation.items()
    if args == [] or not isinstance(args, Mapping | list):
        raise UsageError(f"{name}: got {args!r}; {usage}")
    steps = args if isinstance(args, list) else [{"op": name, **args}]
    try:
        return [codec.decode_op(subject.declaration.system.ops, step) for step in as_json(steps)]
    except (codec.MalformedValue, TypeError, ValueError) as error:
        raise UsageError(f"{name}: {error}") from None


def require_offered(subject: TestedSubject, op: Any) -> None:
    """Check that the subject has an operation.

    Raises:
        UsageError: it does not have it.
    """
    offered = subject.declaration.ops
    if op.name not in offered:
        raise UsageError(f"{subject.name} does not offer {op.name}; it offers: {', '.join(sorted(offered))}")


def as_json(value: Any) -> Any:
    """Return a value as JSON has it."""
    return json.loads(json.dumps(value))


def short_step(op: Any) -> dict[str, Any]:
    """Return the JSON step of an operation without arguments that have their default."""
    usual = {each.name.rstrip("_") for each in fields(op) if getattr(op, each.name) == each.default}
    step: dict[str, Any] = as_json(codec.encode_op(op))
    return {name: value for name, value in step.items() if name not in usual}
