"""What a subject of this system cannot take."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from entrycache_protocol import limits
from entrycache_protocol.limits import at_least


@dataclass(frozen=True, slots=True)
class Limits(limits.Limits):
    """The limits of `pulsar-pip430`.

    `readd_members` False: in the heap container a member is not added again. `heap_members`: the most members of
    a heap container. `tail_ties` False: when the foremost cursor of an active container has left a tie or come
    to one, every tracked cursor of it moves, if only to where it stands, before the next look.
    """

    null_positions: bool = True
    readd_members: bool = True
    heap_members: int | None = at_least(1, None)
    tail_ties: bool = True
    max_requeues: int | None = at_least(0, None)

    @property
    def keeps_rules_out(self) -> bool:
        """Without null positions their rules can hardly be met."""
        return not self.null_positions

    def lifted(self) -> Limits:
        """Ties at the tail make wrong ranks, and an answer all the same."""
        return dataclasses.replace(self, max_steps=None, tail_ties=True)
