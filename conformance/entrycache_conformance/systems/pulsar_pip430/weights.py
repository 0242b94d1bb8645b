"""How often each operation comes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from entrycache_reference.pulsar_pip430.ops import LEVELS, OPS
from entrycache_reference.rules import Rule

WEIGHTS: Final[dict[str, int]] = {
    "insert": 9,
    "get": 4,
    "get_range": 2,
    "exists": 1,
    "remove_range": 2,
    "clear": 1,
    "usage": 2,
    "observe": 2,
    "advance": 4,
    "expire": 5,
    "evict": 4,
    "mark_read": 5,
    "expect_read": 3,
    "cycle": 4,
    "run_scheduled": 4,
    "configure": 4,
    "invalidate_before": 2,
    "invalidate_ledger": 2,
    "remove_cache": 1,
    "metrics": 3,
    "read": 8,
    "read_one": 4,
    "release": 6,
    "cursor_add": 6,
    "cursor_move": 7,
    "cursor_remove": 4,
    "cursor_rank": 5,
    "slowest": 3,
    "cursors": 1,
    "should_cache": 4,
}

OWN: Final = {"range": 1, "queue": 1, "manager": 2, "reads": 2, "cursors": 3}
"""How many times more often the operations of a level come in the cases of that level: about half of all steps."""

LEVEL_OF: Final = {op.name: op.level for op in OPS}
SETTING: Final = frozenset({"insert", "get", "advance", "configure", "observe"})
"""Operations that the others of every level need to have something to do."""

OF_VARIANTS: Final = frozenset({Rule.INSERT_7, Rule.INSERT_8, Rule.READ_13, Rule.COUNT_8, Rule.REQUEUE_9})
"""Rules that are about another reading than the norm."""

LEDGER_OPS: Final = frozenset(
    (
        "append cursor_open cursor_read cursor_seek cursor_reset mark_delete ack activate deactivate cursor_close "
        "replay_add replay_read delete_ledger"
    ).split()
)
"""Operations of level `ledger`, which is not built; a subject may declare them, nobody calls them."""


def menu(names: Iterable[str], level: str | None = None) -> tuple[str, ...]:
    """The operations, each as often as its weight says; `insert` comes first."""
    wanted = frozenset(names)
    return tuple(
        name
        for name, weight in WEIGHTS.items()
        if name in wanted
        for _ in range(weight * (OWN[LEVEL_OF[name]] if LEVEL_OF[name] == level else 1))
    )


def last_level(menu: Iterable[str]) -> str:
    """The last level of which the menu has an operation."""
    found = {LEVEL_OF[name] for name in menu if name != "observe"} or {LEVELS[0]}
    return max(found, key=LEVELS.index)


def own_menu(whole: Sequence[str]) -> tuple[str, ...]:
    """The part of a menu that is of its last level, with what that needs."""
    level = last_level(whole)
    return tuple(name for name in whole if LEVEL_OF[name] == level or name in SETTING)
