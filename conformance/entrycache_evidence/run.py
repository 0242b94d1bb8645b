"""All parts of the formal evidence in one run."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import Final

from rich.console import Console

from entrycache_evidence.evidence import Evidence, Proof
from entrycache_evidence.explore import child
from entrycache_evidence.explore import evidence as explorer
from entrycache_evidence.systems import SHOWN
from entrycache_protocol.errors import MissingPrerequisite, UsageError

REASON: Final = "needs the Python package {}: pip install 'entrycache[prove]'"
PACKAGES: Final = {"z3": "z3-solver", "crosshair": "crosshair-tool"}
"""The parts of this command that need a package, and its name."""

Result = tuple[list[Evidence], list[str]]
Told = Callable[[str], Callable[[int, int], None] | None]


@contextmanager
def _progress() -> Iterator[Told]:
    """On a terminal, one line on stderr that says what is going on."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    with Console(stderr=True).status("proofs") as status:

        def told(what: str) -> Callable[[int, int], None]:
            status.update(what)
            return lambda states, steps: status.update(f"{what}: {states} states, {steps} transitions")

        yield told


def prove(profile: str) -> Proof:
    """Prove, exhaust and confirm what the profile, `ci` or `nightly`, asks for.

    Raises:
        MissingPrerequisite: neither of the packages is there.
        UsageError: no such profile.
    """
    if profile not in {"ci", "nightly"}:
        raise UsageError(f"no profile {profile!r}; expected ci or nightly")
    missing = [part for part in PACKAGES if importlib.util.find_spec(part) is None]
    if len(missing) == len(PACKAGES):
        raise MissingPrerequisite(REASON.format("z3-solver"))
    skipped = [(part, REASON.format(PACKAGES[part])) for part in missing]
    first, *others = SHOWN
    with _progress() as told, ExitStack() as opened, ThreadPoolExecutor(1) as beside:
        # The worlds of the first system are exhausted here, those of each other one in a process of its own.
        waiting = {name: opened.enter_context(child.beside(name, profile)) for name in others}
        confirmed = []
        for name in [shown.contracts for shown in SHOWN.values() if shown.contracts and "crosshair" not in missing]:
            # CrossHair runs in processes of its own, beside the rest.
            contracts = importlib.import_module(name)
            told("contracts")
            planned = contracts.plan(contracts.CI if profile == "ci" else contracts.NIGHTLY)
            confirmed.append(beside.submit(contracts.confirm, planned))
        results: list[Result] = []
        if "z3" not in missing:
            told("z3")
            results.append(importlib.import_module("entrycache_evidence.induction.evidence").induct())
        results.append(explorer.exhaust(SHOWN[first].of(profile), told, SHOWN[first].refute))
        for each in confirmed:
            told("CrossHair")
            results.append(each.result())
        for name, found in waiting.items():
            told(name)
            results.append(found())
    evidence = [item for shown, _ in results for item in shown]
    return Proof(evidence, [line for _, failures in results for line in failures], skipped)
