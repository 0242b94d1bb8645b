"""How cases of `toy` are made."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Any, Final

from entrycache_protocol.declaration import Declaration
from entrycache_protocol.system import CasePlan, Cases, Draw, choose
from entrycache_reference.toy.config import Config
from entrycache_reference.toy.ops import Has, Op, Put
from entrycache_reference.toy.state import State

KEYS: Final = ("x", "y", "z")
LIMITS: Final = (2, 0, 1)


class Theme(Enum):
    """The themes of campaigns."""

    DEFAULT = "default"


def menu(names: Iterable[str], level: str | None = None) -> tuple[str, ...]:
    """The operations, each as often as the other."""
    wanted = frozenset(names)
    return tuple(name for name in ("put", "has") if name in wanted)


def plan(draw: Draw, declaration: Declaration, menu: tuple[str, ...], theme: Theme | None) -> CasePlan:
    """What a case of these operations is to be like."""
    config = declaration.base_config()
    if declaration.varies("limit"):
        config = dataclasses.replace(config, limit=choose(draw, LIMITS))

    def make(name: str, state: State) -> Op:
        key = str(choose(draw, KEYS))
        return Put(key) if name == "put" else Has(key)

    return CasePlan(config, menu, steps_max=12, typical_steps=8, make=make)


def unsupported_reason(declaration: Declaration, config: Config, steps: Sequence[Any]) -> str:
    """Every case can be asked."""
    return ""


CASES: Final[Cases[Config, Op]] = Cases(
    menu,
    plan,
    workloads={theme.value: theme for theme in Theme},
    distinguishing={},
    smoke={
        "put": [{"op": "put", "key": "x"}, {"op": "put", "key": "y"}, {"op": "put", "key": "z"}],
        "has": [{"op": "put", "key": "x"}, {"op": "has", "key": "x"}, {"op": "has", "key": "y"}],
    },
    unvaried=frozenset({"variants"}),
    unsupported_reason=unsupported_reason,
)
