"""Every change in a process of its own, asked of every detector."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple

from entrycache_evidence.drawn import STRETCHED
from entrycache_evidence.forked import each
from entrycache_evidence.matrix import apply, detect, proofs
from entrycache_evidence.matrix.change import Change
from entrycache_evidence.matrix.child import Died, TooLong, in_child, within
from entrycache_evidence.matrix.tried import TRIED, package_of
from entrycache_protocol.system import AnySystem

FIRST: Final = ("laws", "worlds")
"""What is asked of every change: the laws in seeded cases, and in small worlds within a few steps."""

FORMAL: Final = (*FIRST, "contracts", "z3")
"""Detectors that need no second implementation, and nothing written down of what the reference answers.

`contracts`: those of CrossHair, on plain inputs; `z3`: lemmas.
"""

OTHERS: Final = ("counts", "twin", "examples")
"""The counts of the worlds, our fast caches beside the reference, the examples of the rules."""

ALL: Final = (*FORMAL, *OTHERS)

SECONDS: Final = 20.0
"""What a detector, each of its parts and each lemma, may take of a changed reference's own time: more of it *hangs*."""

Seen = dict[str, str]
"""By detector, what of it sees a change; a detector that sees nothing is not named."""

Told = Callable[[int], None]


class Known(NamedTuple):
    """What is found out beforehand of the reference as it is.

    `at_import`: functions that are called while modules are imported; `counts` of the small worlds, by system;
    `lemmas` and `contracts`: which functions they call, by package, where that is asked for.
    """

    effort: detect.Effort
    at_import: frozenset[str]
    counts: Mapping[str, Mapping[str, detect.Counts]]
    lemmas: Mapping[str, Mapping[int, frozenset[str]]] = {}
    contracts: Mapping[str, frozenset[str]] = {}


def is_formal(seen: Seen) -> bool:
    """Whether a formal detector is among those that see it."""
    return any(name in seen for name in FORMAL)


def known(effort: detect.Effort) -> Known:
    """What the reference as it is does, as far as it takes to ask the first detectors."""
    counts = {system.name: detect.counted(system, effort) for system in TRIED}
    return Known(effort, in_child(called_at_import), counts)


def with_reach(known: Known, changes: Sequence[Change]) -> Known:
    """The same, with what lemmas and contracts call, of the systems that these changes are about."""
    asked = [system for system in TRIED if any(_is_about(change, system) for change in changes)]
    systems = {package_of(system): system for system in asked}
    lemmas = {package: proofs.reach_of_lemmas(package) for package in systems}
    contracts = {package: proofs.reach_of_contracts(system, package) for package, system in systems.items()}
    return known._replace(lemmas=lemmas, contracts=contracts)


def called_at_import() -> frozenset[str]:
    """Functions that are called while modules of ours are imported; it imports them anew."""
    for name in [name for name in sys.modules if name.startswith(apply.OURS)]:
        del sys.modules[name]
    return proofs.called(lambda: importlib.import_module("entrycache_evidence.matrix.proofs"))


def look_at(
    changes: Sequence[Change], effort: detect.Effort, thorough: bool = False, told: Told = lambda _: None
) -> list[Seen]:
    """What sees each change, by as many processes as there are cores.

    The dearer detectors are asked of those only that the first ones do not see, unless the look is `thorough`.
    """
    cheap = known(effort)
    seen = each(lambda change: look(change, cheap, (*FIRST, "counts"), thorough), changes, told)
    left = [at for at, found in enumerate(seen) if thorough or not is_formal(found)]
    if left:
        dear = with_reach(cheap, [changes[at] for at in left])
        rest = tuple(name for name in ALL if name not in {*FIRST, "counts"})
        before = len(changes) - len(left)
        more = each(lambda at: look(changes[at], dear, rest, thorough), left, lambda done: told(before + done))
        for at, found in zip(left, more, strict=True):
            seen[at] = {name: what for name in ALL for what in [{**seen[at], **found}.get(name)] if what}
    return seen


def look(change: Change, known: Known, names: Collection[str], thorough: bool = False) -> Seen:
    """What of these detectors sees one change; the others are not asked once a formal one has, unless `thorough`."""
    try:
        found = in_child(lambda: _looked(change, known, names, thorough))
    except Died:
        return {"laws": "the process dies"}
    assert isinstance(found, dict)
    return found


def _looked(change: Change, known: Known, names: Collection[str], thorough: bool) -> Seen:
    """In a child of its own: what sees the change. Where all is imported anew, the detectors are too."""
    try:
        fresh = within(SECONDS, lambda: apply.put(change, known.at_import))
        there = importlib.import_module(__name__) if fresh else sys.modules[__name__]
    except Exception as error:
        return {"laws": f"import: {type(error).__name__}"}
    except TooLong:
        return {"laws": "import: hangs"}
    return dict(there.asked(change, known, names, thorough))


def asked(change: Change, known: Known, names: Collection[str], thorough: bool) -> Seen:
    """What sees the change that is in this process."""
    seen: Seen = {}
    for system in TRIED:
        if _is_about(change, system):
            for name, detector in _detectors(change, system, known, seen):
                if name in names and (thorough or not is_formal(seen)):
                    _note(seen, name, detector)
    return seen


def _is_about(change: Change, system: AnySystem) -> bool:
    """Whether the change stands in the reference of the system, or below all of them."""
    others = [package_of(each) for each in TRIED if each is not system]
    return not change.module.startswith(tuple(f"{package}." for package in others))


def _detectors(change: Change, system: AnySystem, known: Known, seen: Seen) -> Iterator[tuple[str, Callable[[], str]]]:
    package, effort = package_of(system), known.effort
    yield "laws", lambda: detect.laws(system, effort)
    yield "laws", lambda: detect.large(system)
    for first in range(0, STRETCHED, detect.BLOCK):
        yield "laws", partial(detect.far_from, system, first)
    yield "worlds", lambda: _worlds(seen, system, known)
    if _reaches(change, known.contracts.get(package, frozenset())):
        yield "contracts", lambda: proofs.contracts(system, package, effort.inputs)
    wanted = [number for number, reach in known.lemmas.get(package, {}).items() if _reaches(change, reach)]
    for number in wanted:  # each within its own time: all lemmas of a package take longer than one may
        yield "z3", partial(proofs.z3_lemma, number)
    if system.fast is not None and system.fast.open_told is not None:
        yield "twin", lambda: detect.twin(system, effort)
    yield "examples", lambda: detect.shown(system, effort)


def _worlds(seen: Seen, system: AnySystem, known: Known) -> str:
    broken, differing = detect.worlds(system, known.effort, known.counts[system.name])
    if differing:
        seen["counts"] = differing
    return broken


def _reaches(change: Change, reach: frozenset[str]) -> bool:
    """Whether the change may show where these functions are called; outside of functions anywhere in the module."""
    name = change.function.rpartition(".")[2]
    if name and not name[0].isupper():
        return f"{change.module}:{change.function}" in reach
    return any(called.startswith(f"{change.module}:") for called in reach)


def _note(seen: Seen, detector: str, work: Callable[[], str]) -> None:
    if detector in seen or "hangs" in seen.values():
        return
    try:
        found = within(SECONDS, work)
    except Exception as error:
        found = f"raises {type(error).__name__}"
    except TooLong:
        found = "hangs"
    if found:
        seen[detector] = found
