"""What `toy` says for explaining a difference: every key of the case is asked for after every step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from entrycache_faults.model import Fault
from entrycache_faults.reference.toy import PLANTED
from entrycache_protocol.system import Blame
from entrycache_reference.rules import Rule
from entrycache_reference.toy.ops import Has
from entrycache_reference.toy.state import Row, State, Step


def faults() -> Sequence[Sequence[Fault]]:
    """One group."""
    return (tuple(PLANTED),)


def looks(declaration: Any, steps: Sequence[Any]) -> Sequence[Any]:
    """A question for each key."""
    return tuple(Has(key) for key in sorted({op.key for op in steps})) if "has" in declaration.ops else ()


def told(
    pre: State, done: Step, op: Any, answer: Any, shown: Mapping[Any, Any], declaration: Any
) -> tuple[State, Step, Step]:
    """The subject's state is the keys that it says it has."""
    state = State(frozenset(look.key for look, found in shown.items() if found.found)) if shown else done.state
    return pre, done, done._replace(state=state, outcome=answer)


def is_about(expected: Any, got: Any, row: Row) -> bool:
    """Every row is about its step."""
    return True


BLAME: Final = Blame(faults, looks, told, is_about, frozenset(), Rule.T_LIVENESS_1)
