"""Count the bounded models of a profile: `python -m entrycache_dev.pages.model_counts [PROFILE] [--missing]`.

The command writes the numbers of states and transitions into `worlds.json`; with `--missing` it counts only models
without numbers there. With `--soonest` it searches all models for each seeded fault instead, and writes the first model
that shows it into `soonest.json`; with `--missing` too, it searches only for faults without a model there.
"""

import sys
from typing import Final

from rich.console import Console

from entrycache_evidence.core.models import FAULT_OF
from entrycache_evidence.model_checker import checker, evidence
from entrycache_evidence.model_checker.evidence import refute
from entrycache_evidence.systems import PROFILES, SYSTEM_EVIDENCE

MISSING: Final = "--missing"
FIRST_SIGHTINGS: Final = "--soonest"


def main(arguments: list[str]) -> int:
    """Count the models and write their counts; return 1 at the first broken law."""
    profile = next((argument for argument in arguments if argument not in {MISSING, FIRST_SIGHTINGS}), PROFILES[0])
    if profile not in PROFILES:
        print(f"no profile {profile!r}; expected one of {', '.join(PROFILES)}", file=sys.stderr)
        return 2
    if FIRST_SIGHTINGS in arguments:
        return _find_first_sightings(profile, MISSING in arguments)
    committed = evidence.load_counts()
    for entry in SYSTEM_EVIDENCE.values():
        for scope in entry.models_of(profile):
            if MISSING in arguments and evidence.counts_key(scope) in committed:
                continue
            explored = _explore_with_progress(scope)
            if explored.counterexample is not None:
                print(f"{scope.name}: a law is broken; nothing is accepted: entrycache prove", file=sys.stderr)
                return 1
            key, now = evidence.count_states(scope, explored)
            committed[key] = now
            evidence.write_counts(committed)
            print(f"{scope.name}: {evidence.describe_counts(now)}", flush=True)
    return 0


def _find_first_sightings(profile: str, only_missing: bool) -> int:
    """Write the model in which each seeded fault shows first; with `only_missing`, of those without a model yet."""
    committed = evidence.load_first_sightings()
    for entry in SYSTEM_EVIDENCE.values():
        explored = [(scope, checker.explore(scope, whole=False)) for scope in entry.models_of(profile)]
        for rule in [rule for rule in FAULT_OF if not only_missing or rule not in committed]:
            inside = [scope for scope, exploration in explored if exploration.fired.get(rule)]
            refutation = refute(rule, inside)
            if refutation is not None:
                committed[rule] = refutation.scope.name
                print(f"{rule.value}: {refutation.scope.name}", flush=True)
    evidence.write_first_sightings(committed)
    return 0


def _explore_with_progress(scope: checker.AnyBoundedModel) -> checker.Exploration:
    """Explore a model; on a terminal, show the number of states so far."""
    if not sys.stderr.isatty():
        return checker.explore(scope, whole=False)
    with Console(stderr=True).status(scope.name) as status:
        return checker.explore(scope, lambda states, _: status.update(f"{scope.name}: {states} states"), whole=False)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
