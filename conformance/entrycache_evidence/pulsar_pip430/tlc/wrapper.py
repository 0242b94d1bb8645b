"""The wrapper's protocol with threads: with every guard no invariant breaks, without one of them TLC finds the race."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from entrycache_evidence.tlc.module import Module
from entrycache_evidence.tlc.second import Claim
from entrycache_evidence.tlc.text import texts
from entrycache_reference.pulsar_pip430 import NAME
from entrycache_reference.rules import Rule

INVARIANTS: Final = ("NothingWrong", "Balanced", "ReadsRight", "SaysTrue", "PoolIsFree", "OneSlot", "Settled")


SIZES: Final[Mapping[str, frozenset[str]]] = {
    "Keys": frozenset({"k1", "k2"}),
    "Wrappers": frozenset({"w1", "w2"}),
    "Values": frozenset({"v1", "v2"}),
    "Readers": frozenset({"reader"}),
    "Removers": frozenset({"remover"}),
    "Writers": frozenset({"writer1", "writer2"}),
    "Evictors": frozenset({"evictor"}),
}
"""Two positions, two inserts, a read, a removal, passes."""

PASSES: Final[Mapping[str, frozenset[str]]] = {
    **SIZES,
    "Readers": frozenset(),
    "Removers": frozenset(),
    "Evictors": frozenset({"evictor1", "evictor2"}),
}
"""Two that run passes, and inserts."""


class Guard(NamedTuple):
    """A guard by the name of its constant, the rule that it keeps, and the race without it, with its public source."""

    name: str
    rule: Rule
    race: str
    sizes: Mapping[str, frozenset[str]] = SIZES


GUARDS: Final = (
    Guard("ValidatesRead", Rule.LIVENESS_2, "a reader takes a value that is just being removed (kin of PR 22789)"),
    Guard("FailsAtZero", Rule.READ_1, "a reader retains a value whose last reference is gone (PR 22789)"),
    Guard("ChecksAgain", Rule.READ_1, "a reader is handed a value that was used anew for another position (PR 22789)"),
    Guard("RemovesSame", Rule.STATE_8, "a removal takes what stands there now, not what it looked up (PR 18076)"),
    Guard("MapFirst", Rule.INSERT_2, "the wrapper of a duplicate is used anew while it is in the queue (PR 24363)"),
    Guard(
        "RecyclesAfterPoll", Rule.STATE_2, "a removal by a call gives back a wrapper that is in the queue (PR 10433)"
    ),
    Guard("ForgetsAll", Rule.INSERT_1, "what was known of a former value is taken for known of a new one (PR 25987)"),
    Guard(
        "PassesAlone", Rule.STATE_2, "a pass takes from the queue what another one looked at (kin of PR 25988)", PASSES
    ),
)


def module(without: str = "", sizes: Mapping[str, frozenset[str]] = SIZES) -> Module:
    """The module with every guard, or with every one but this."""
    guards = {guard.name: guard.name != without for guard in GUARDS}
    config = ("INIT Init", "NEXT Next", *(f"INVARIANT {name}" for name in INVARIANTS))
    return Module(NAME, "Wrapper", texts({**sizes, **guards}), config)


def claim(guard: Guard) -> Claim:
    """What holds with every guard, and the race without this one."""
    threads = sum(len(guard.sizes[kind]) for kind in ("Readers", "Removers", "Writers", "Evictors"))
    what = f"the wrapper's protocol with {threads} threads breaks no invariant"
    missing = f"{guard.name} is taken out: {guard.race}"
    return Claim(guard.rule, what, module("", guard.sizes), missing, module(guard.name, guard.sizes))


CLAIMS: Final = tuple(claim(guard) for guard in GUARDS)
"""A guard each."""
