"""`python -m entrycache_evidence.matrix.searches`: how surely the search of a run sees a changed guard."""

from __future__ import annotations

import dataclasses
import json
import sys
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click

from entrycache_conformance.profiles import PROFILES
from entrycache_conformance.subjects.reference import reference
from entrycache_evidence.matrix.change import Change
from entrycache_evidence.matrix.child import in_child
from entrycache_evidence.matrix.equivalent import arguments
from entrycache_evidence.matrix.places import all_changes
from entrycache_evidence.matrix.run import called_at_import
from entrycache_evidence.matrix.teeth import Look, Silent, guards, is_given_up, missed, why_silent
from entrycache_evidence.matrix.tried import TRIED
from entrycache_evidence.rulebook.registry import checkout
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.errors import UsageError
from entrycache_protocol.output import write_text

PAGE: Final = "search-matrix"
HEAD: Final = """# What a run sees of a changed guard

Written by `python -m entrycache_evidence.matrix.searches --write`; do not edit.

Every one-token change of a comparison, a condition, an operand or a constant of a reference is asked the seeded cases
of `conform` at profile ci, seed by seed, and answers as a subject would. Changes that are argued to change nothing
(`equivalent.toml`) are left out. A change that the whole runs of the first two seeds do not see is not asked about at
the others: the page says why no outcome shows it. What Hypothesis adds to a run is not counted.

| system | changed guards | seeds | seen at every seed | at all but one | no outcome shows it | less |
|---|---|---|---|---|---|---|"""

ASKED: Final = {system.name: system for system in TRIED}
"""The systems that are asked about, by name."""

UNSURE: Final = 1
"""At so many seeds a change may go unseen."""

SILENT: Final = Path(__file__).parent / "silent.toml"
"""Changes that no case within the contract can show by an outcome, each with the argument."""


@click.command()
@click.option("--seeds", type=click.IntRange(1), default=50, show_default=True, help="How many seeds, from 0 on.")
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
    told: dict[str, Any] = {}
    for system in (ASKED[name] for name in names or ASKED):
        asked = [one for one in guards(every, system) if one.id not in because and only in one.module]
        look = Look(reference(system).declaration, PROFILES[profile], range(seeds), at_import)
        told[system.name] = looked_at(asked, look, of_silent)
        _say(system.name, told[system.name])
    if write:
        _write({**_committed(), **told})
    sys.exit(int(any(one["weak"] for one in told.values())))


def looked_at(changes: Sequence[Change], look: Look, of_silent: Mapping[str, str]) -> dict[str, Any]:
    """What the runs of these seeds see of the changes."""
    at = missed(changes, look, _progress(len(changes)))
    never = [one for one in changes if is_given_up(at[one.id], look)]
    why = dict(zip([one.id for one in never], why_silent(never, look, variants_of(look.declaration)), strict=True))
    kinds = Counter(_kind(why[one.id], one, of_silent) for one in never)
    weak = [one for one in changes if _is_weak(one, at[one.id], why, of_silent)]
    return {
        "seeds": len(look.seeds),
        "examples": look.profile.examples,
        "changes": len(changes),
        "at_every_seed": sum(not at[one.id] for one in changes),
        "at_all_but_one": sum(len(at[one.id]) == UNSURE for one in changes if one not in never),
        "no_outcome_shows_it": dict(sorted(kinds.items())),
        "weak": [_shown(one, at[one.id]) for one in weak],
        "argued": [{**_shown(one, ()), "because": of_silent[one.id]} for one in never if one.id in of_silent],
    }


def _kind(silent: Silent, change: Change, of_silent: Mapping[str, str]) -> str:
    if silent.rows:
        return "only rows of a trace"
    if silent.variant:
        return "only outcomes under a variant that a release follows"
    return "argued" if change.id in of_silent else "not explained"


def _is_weak(change: Change, at: tuple[int, ...], why: Mapping[str, Silent], of_silent: Mapping[str, str]) -> bool:
    if change.id in why:
        return _kind(why[change.id], change, of_silent) == "not explained"
    return len(at) > UNSURE


def _shown(change: Change, at: tuple[int, ...]) -> dict[str, Any]:
    place = {"id": change.id, "file": change.file, "function": change.function, "kind": change.kind}
    return {**place, "old": change.old, "new": change.new, **({"missed_at": list(at)} if at else {})}


def variants_of(declaration: Declaration) -> dict[str, Declaration]:
    """The declaration under each variant that is not the norm, by its name."""
    norm = declaration.system.model.variants()
    found = {}
    for field in dataclasses.fields(norm):
        has = getattr(norm, field.name)
        for other in type(has):
            if other is not has:
                variants = dataclasses.replace(norm, **{field.name: other})
                found[f"{field.name}={other.value}"] = dataclasses.replace(declaration, variants=variants)
    return found


def _say(name: str, told: Mapping[str, Any]) -> None:
    print(
        f"{name}: {told['changes']} changed guards, {told['seeds']} seeds of {told['examples']} examples a level: "
        f"{told['at_every_seed']} seen at every seed, {told['at_all_but_one']} at all but one"
    )
    for kind, count in told["no_outcome_shows_it"].items():
        print(f"  no outcome shows {count}: {kind}")
    for one in told["weak"]:
        seeds = one.get("missed_at", [])
        print(f"  {one['id']} {one['file']} {one['function']}: {one['old']!r} -> {one['new']!r}: missed at {seeds}")


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
    return json.loads(path.read_text("utf-8"))["systems"] if path.is_file() else {}


def _write(systems: Mapping[str, Any]) -> None:
    write_text(_docs() / f"{PAGE}.json", json.dumps({"schema": 1, "systems": systems}, indent=1) + "\n")
    write_text(_docs() / f"{PAGE}.md", page(systems))


def page(systems: Mapping[str, Any]) -> str:
    """The committed page."""
    lines = HEAD.splitlines()
    for name, told in systems.items():
        silent = sum(told["no_outcome_shows_it"].values())
        cells = [
            told["changes"],
            told["seeds"],
            told["at_every_seed"],
            told["at_all_but_one"],
            silent,
            len(told["weak"]),
        ]
        lines.append(f"| {name} | {' | '.join(map(str, cells))} |")
    for name, told in systems.items():
        lines += ["", f"## {name}", ""]
        lines += [f"- {count}: {kind}" for kind, count in told["no_outcome_shows_it"].items()]
        lines += [f"- {_code(one)}: {one['because']}" for one in told["argued"]]
        lines += [f"- **missed** at {one.get('missed_at', 'all')}: {_code(one)}" for one in told["weak"]]
    return "\n".join(lines) + "\n"


def _code(one: Mapping[str, Any]) -> str:
    return f"`{one['file']}`, `{one['function']}`: `{one['old']}` becomes `{one['new']}`"


if __name__ == "__main__":
    try:
        main(standalone_mode=True)
    except UsageError as error:
        print(f"entrycache: {error}", file=sys.stderr)
        sys.exit(2)
