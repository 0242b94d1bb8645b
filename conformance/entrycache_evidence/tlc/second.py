"""What a second model of a system consists of."""

from __future__ import annotations

from typing import NamedTuple

from entrycache_evidence.tlc.beside import Beside
from entrycache_evidence.tlc.module import Module
from entrycache_reference.rules import Rule


class Claim(NamedTuple):
    """A module that TLC goes through without finding anything, and the same with an error, of which it finds one.

    `what` says what holds, `error` what was planted. `goes_on`: the error shows as a behaviour that never ends.
    """

    rule: Rule
    what: str
    holds: Module
    error: str
    refuted: Module
    goes_on: bool = False


class SecondModel(NamedTuple):
    """The worlds that are held beside the explorer's, the smallest first, and the claims about further modules."""

    worlds: tuple[Beside, ...]
    claims: tuple[Claim, ...]
