"""Many entries in a row: what a bound inside an implementation, of a pass, a read or a count, does not hold up to."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from entrycache_conformance.systems.pulsar_pip430.arguments.arguments import Aim
from entrycache_protocol.draw import choose
from entrycache_reference.pulsar_pip430 import ops
from entrycache_reference.vocabulary import ABSENT, Position

SIZES: Final = (1, 10, 0, 7, 30)
COUNTS: Final = (ABSENT, 1, 101, None, 2, 1_001, 70_000)
BEHIND: Final = 10
"""The first of them lies so far behind the places that the other operations ask for; the next ones follow."""


def flood(aim: Aim, first: ops.Insert) -> list[ops.Insert]:
    """Offers that follow one, in one cache and ledger; the last of the list comes first."""
    number = aim.draw(0, aim.flood)
    size = min(aim.max_size, choose(aim.draw, SIZES))
    if aim.room_bytes is not None:
        size = min(size, aim.room_bytes // max(1, number))
        aim.room_bytes -= number * size
    count = choose(aim.draw, COUNTS)
    start = first.pos.entry + BEHIND
    offers = []
    for index in range(number):
        pos = Position(first.pos.ledger, start + index)
        offer = replace(first, pos=pos, size=size, expected_reads=count if index % 3 else ABSENT)
        if aim.declaration.payload:
            aim.token += 1
            offer = replace(offer, token=aim.token)
        offers.append(offer)
    return offers[::-1]
