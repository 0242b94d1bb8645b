"""`python -m entrycache_evidence.matrix.searches`: how surely the search of a run sees a changed guard."""

from __future__ import annotations

import json
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click

from entrycache_conformance.profiles import PROFILES
from entrycache_conformance.subjects.reference import reference
from entrycache_evidence.matrix.asked import ARGUED, UNEXPLAINED, State, asked
from entrycache_evidence.matrix.change import Change
from entrycache_evidence.matrix.child import in_child
from entrycache_evidence.matrix.equivalent import arguments
from entrycache_evidence.matrix.places import all_changes
from entrycache_evidence.matrix.played import SECONDS
from entrycache_evidence.matrix.run import called_at_import
from entrycache_evidence.matrix.teeth import Look, guards
from entrycache_evidence.matrix.tried import TRIED
from entrycache_evidence.rulebook.registry import checkout
from entrycache_protocol.errors import UsageError
from entrycache_protocol.output import write_text

PAGE: Final = "search-matrix"
HEAD: Final = f"""# What a run sees of a changed guard

Written by `python -m entrycache_evidence.matrix.searches --write`; do not edit. A run that was stopped is gone on with.

Every one-token change of a comparison, a condition, an operand or a constant of a reference is asked the seeded cases
of `conform` at profile ci, seed by seed from 0 on, and answers as a subject would, in the process that asks. Changes
that are argued to change nothing (`equivalent.toml`) are left out. What two whole seeds do not show is asked under the
readings of releases (variants), one at a time and, where nothing else explains it, two at once; and then at every seed
under the first of them that shows it. Where none does, the page says why no outcome shows it. What Hypothesis adds to a
run is not counted. A change counts as seen where a case ends in an error or takes more than {SECONDS:g} s of its own
time, of which the reference took 0.17 s at most at seed 0; one that makes all cases slow, but none of them so slow,
does not. A system without a line has not been asked yet.

| system | changed guards | by a variant | seeds | seen at all | all but one | fewer | by no outcome | not explained |
|---|---|---|---|---|---|---|---|---|"""

EARLIER: Final = """These systems were asked before runs had odd cases, and have not been asked again."""

ASKED: Final = {system.name: system for system in TRIED}
"""The systems that are asked about, by name."""

UNSURE: Final = 1
"""At so many seeds a change may go unseen."""

SILENT: Final = Path(__file__).parent / "silent.toml"
"""Changes that no case within the contract can show by an outcome, each with the argument."""


@click.command()
@click.option("--seeds", type=click.IntRange(2), default=50, show_default=True, help="How many seeds, from 0 on.")
@click.option("--profile", type=click.Choice(list(PROFILES)), default="ci", show_default=True, help="Of which runs.")
@click.option("--system", "names", multiple=True, type=click.Choice(list(ASKED)), help="Of these systems; all.")
@click.option("--only", default="", help="Changes of modules whose name holds this, as kafka_streams.flush.")
@click.option("--write", is_flag=True, help=f"Write docs/{PAGE}.json and docs/{PAGE}.md; systems not asked stay.")
def main(seeds: int, profile: str, names: tuple[str, ...], only: str, write: bool) -> None:
    """Tell the changed guards that seeded runs do not see at all seeds but one; 1 if there are any."""
    every = all_changes()
    because = arguments({change.id for change in every})
    of_silent = tomllib.loads(SILENT.read_text("utf-8"))
    at_import = in_child(called_at_import)
    weak = 0
    for system in (ASKED[name] for name in names or ASKED):
        changes = [one for one in guards(every, system) if one.id not in because and only in one.module]
        look = Look(reference(system).declaration, PROFILES[profile], at_import)

        def keep(state: State, changes: Sequence[Change] = changes, name: str = system.name) -> None:
            if write:
                _write({**_committed()["systems"], name: _with_places(state, changes, of_silent)})

        known = _committed()["systems"].get(system.name, {}) if write else {}
        state = asked(changes, look, seeds, of_silent, known, keep, _progress(len(changes)))
        told = _with_places(state, changes, of_silent)
        print("\n".join(_said(system.name, told)), flush=True)
        weak += len(_weak(told))
    sys.exit(int(weak > 0))


def _with_places(state: State, changes: Sequence[Change], of_silent: Mapping[str, str]) -> State:
    """With where the changes stand that the page names, and what is argued of them."""
    named = {change.id: change for change in changes if change.id in _named(state)}
    places = {
        name: {"file": one.file, "function": one.function, "kind": one.kind, "old": one.old, "new": one.new}
        for name, one in named.items()
    }
    argued = {name: of_silent[name] for name, reason in state["silent"].items() if reason == ARGUED}
    return {**state, "places": places, "argued": argued}


def _named(state: State) -> set[str]:
    return {*state["unseen"], *(name for name, why in state["silent"].items() if why in {ARGUED, UNEXPLAINED})}


def _weak(told: State) -> dict[str, list[int]]:
    """What is missed at more seeds than one, and what no outcome shows for no known reason, at no seed."""
    seldom = {name: seeds for name, seeds in told["unseen"].items() if len(seeds) > UNSURE}
    return seldom | {name: [] for name, why in told["silent"].items() if why == UNEXPLAINED}


def _counts(told: State) -> dict[str, int]:
    seeds = [len(some) for some in told["unseen"].values()]
    unexplained = sum(why == UNEXPLAINED for why in told["silent"].values())
    return {
        "changes": told["changes"],
        "under a variant": len(told["under"]),
        "seeds": told["seeds"],
        "at every seed": told["changes"] - len(told["silent"]) - len(seeds),
        "at all but one": sum(one <= UNSURE for one in seeds),
        "at fewer": sum(one > UNSURE for one in seeds),
        "shown by no outcome": len(told["silent"]) - unexplained,
        "not explained": unexplained,
    }


def _said(name: str, told: State) -> Iterator[str]:
    yield f"{name}: " + ", ".join(f"{number} {what}" for what, number in _counts(told).items())
    for one, seeds in _weak(told).items():
        yield f"  {one} {_code(told['places'][one])}: {_missed_at(seeds, told)}"


def _missed_at(seeds: Sequence[int], told: State) -> str:
    missed = ", ".join(map(str, seeds))
    return f"missed at {len(seeds)} of {told['seeds']} seeds ({missed})" if seeds else "shown by nothing"


def _progress(number: int):  # type: ignore[no-untyped-def]
    def told(done: int) -> None:
        if sys.stderr.isatty():
            print(f"\r{done} of {number}", end="\n" if done == number else "", file=sys.stderr, flush=True)

    return told


def _docs() -> Path:
    root = checkout()
    if root is None:
        raise UsageError("the matrix of searches changes a source checkout; expected to run in one")
    return root / "docs"


def _committed() -> dict[str, Any]:
    path = _docs() / f"{PAGE}.json"
    return json.loads(path.read_text("utf-8")) if path.is_file() else {"systems": {}, "earlier": {}}


def _write(systems: Mapping[str, Any]) -> None:
    in_order = {name: systems[name] for name in ASKED if name in systems}
    asked = {name for name, told in systems.items() if "begun" not in told}
    earlier = {name: told for name, told in _committed()["earlier"].items() if name not in asked}
    table = {"schema": 2, "systems": in_order, "earlier": earlier}
    write_text(_docs() / f"{PAGE}.json", json.dumps(table, indent=1) + "\n")
    write_text(_docs() / "reference" / f"{PAGE}.md", page(in_order, earlier))


def page(systems: Mapping[str, State], earlier: Mapping[str, Mapping[str, Any]]) -> str:
    """The committed page; `earlier`: counts of systems that have not been asked the cases of now."""
    lines = HEAD.splitlines()
    begun = [name for name, told in systems.items() if "begun" in told]
    systems = {name: told for name, told in systems.items() if name not in begun}
    lines += [f"| {name} | {' | '.join(map(str, _counts(told).values()))} |" for name, told in systems.items()]
    for name, told in systems.items():
        lines += ["", f"## {name}", ""]
        lines += [f"- shown by no outcome, {why}: {number}" for why, number in _reasons(told).items()]
        lines += [f"- asked under `{variant}`: {number}" for variant, number in Counter(told["under"].values()).items()]
        lines += [f"- {_code(told['places'][one])}: {because}" for one, because in told["argued"].items()]
        lines += [
            f"- missed at seed {seeds[0]} alone: {_code(told['places'][one])}"
            for one, seeds in told["unseen"].items()
            if len(seeds) <= UNSURE
        ]
        lines += [
            f"- **{_missed_at(seeds, told)}**: {_code(told['places'][one])}" for one, seeds in _weak(told).items()
        ]
    if begun:
        lines += ["", f"Begun, with nothing to tell yet: {', '.join(begun)}."]
    if earlier:
        lines += ["", "## With the cases of an earlier version", "", EARLIER, ""]
    for name, before in earlier.items():
        numbers = ", ".join(f"{number} {what}" for what, number in before["counts"].items())
        lines += [f"- {name}: {numbers}", *(f"- {name}: {line}" for line in before["since"])]
    return "\n".join(lines) + "\n"


def _reasons(told: State) -> dict[str, int]:
    return dict(sorted(Counter(told["silent"].values()).items()))


def _code(place: Mapping[str, Any]) -> str:
    return f"`{place['file']}`, `{place['function']}`: `{place['old']}` becomes `{place['new']}`"


if __name__ == "__main__":
    try:
        main(standalone_mode=True)
    except UsageError as error:
        print(f"entrycache: {error}", file=sys.stderr)
        sys.exit(2)
