"""`python -m entrycache_evidence.model_checker [PROFILE] [--missing]`: count the worlds of a profile; write docs/worlds.json.

With `--missing` only those are counted that have no counts there. With `--soonest` planted faults are looked for in all
of them instead; in which world each shows soonest goes into docs/soonest.json.
"""

from __future__ import annotations

import sys
from typing import Final

from rich.console import Console

from entrycache_evidence.core.models import FAULT_OF
from entrycache_evidence.model_checker import evidence
from entrycache_evidence.model_checker.checker import AnyBoundedModel, Exploration, explore
from entrycache_evidence.model_checker.evidence import refute
from entrycache_evidence.systems import PROFILES, SHOWN

MISSING: Final = "--missing"
SOONEST: Final = "--soonest"


def main(arguments: list[str]) -> int:
    """Write what is counted, world by world; the exit code is 1 where a law breaks, and then no more is counted."""
    profile = next((argument for argument in arguments if argument not in {MISSING, SOONEST}), PROFILES[0])
    if profile not in PROFILES:
        print(f"no profile {profile!r}; expected one of {', '.join(PROFILES)}", file=sys.stderr)
        return 2
    if SOONEST in arguments:
        return _look(profile)
    held = evidence.load_counts()
    for shown in SHOWN.values():
        for world in shown.of(profile):
            if MISSING in arguments and evidence.counts_key(world) in held:
                continue
            seen = _explored(world)
            if seen.counterexample is not None:
                print(f"{world.name}: a law is broken; nothing is accepted: entrycache prove", file=sys.stderr)
                return 1
            key, now = evidence.count_states(world, seen)
            held[key] = now
            evidence.write_counts(held)
            print(f"{world.name}: {evidence.describe_counts(now)}", flush=True)
    return 0


def _look(profile: str) -> int:
    """Write for each rule whose law is asked in a world of the profile where its planted fault shows soonest."""
    held = evidence.load_first_sightings()
    for shown in SHOWN.values():
        seen = [(world, explore(world, whole=False)) for world in shown.of(profile)]
        for rule in FAULT_OF:
            inside = [world for world, found in seen if found.fired.get(rule)]
            refutation = refute(rule, inside)
            if refutation is not None:
                held[rule] = refutation.world.name
                print(f"{rule.value}: {refutation.world.name}", flush=True)
    evidence.write_first_sightings(held)
    return 0


def _explored(world: AnyBoundedModel) -> Exploration:
    """The world to its end; on a terminal, with how many states there are so far."""
    if not sys.stderr.isatty():
        return explore(world, whole=False)
    with Console(stderr=True).status(world.name) as status:
        return explore(world, lambda states, _: status.update(f"{world.name}: {states} states"), whole=False)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
