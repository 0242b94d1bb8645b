"""The dispatch: `FUNCTIONS` maps each operation to its function, and `step` calls it."""

from collections.abc import Callable
from typing import Any, Final

from entrycache_reference.pulsar_segmented import lookup, ops, ring, views
from entrycache_reference.pulsar_segmented.config import Config
from entrycache_reference.pulsar_segmented.state import State, Step
from entrycache_reference.rules import Rule, rule

FUNCTIONS: Final[dict[type[ops.Op], Callable[[State, Any, Config], Step]]] = {
    ops.Insert: ring.insert,
    ops.Get: lookup.get,
    ops.GetRange: lookup.get_range,
    ops.Usage: views.usage,
    ops.Observe: views.observe,
}
"""The function of each operation."""


@rule(Rule.S_LIVENESS_1)
def step(state: State, event: ops.Op, config: Config) -> Step:
    """Return the result of one event. Pure and total: the given state is never changed."""
    return FUNCTIONS[type(event)](state, event, config)
