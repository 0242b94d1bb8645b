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
from dataclasses import fields
from typing import Any, Final

from hypothesis import strategies as st

from entrycache_protocol import codec
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.errors import UsageError
from entrycache_protocol.system import Cases, Draw, choose, seeded_draw

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
    steps = _machine(draw).draw_steps(_integers(draw), operation)
    step: dict[str, Any] = next((each for each in steps if each["op"] == operation), {})
    values = tuple(_as_tuple(step.get(name)) for name in names)
    return values[0] if len(values) == 1 else values


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


# --- Steps as JSON


def as_json(value: Any) -> Any:
    """Return a value as JSON has it."""
    return json.loads(json.dumps(value))


def short_step(op: Any) -> dict[str, Any]:
    """Return the JSON step of an operation without arguments that have their default."""
    usual = {each.name.rstrip("_") for each in fields(op) if getattr(op, each.name) == each.default}
    step: dict[str, Any] = as_json(codec.encode_op(op))
    return {name: value for name, value in step.items() if name not in usual}
