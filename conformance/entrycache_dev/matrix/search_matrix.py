"""Measure how surely the search of a run detects a changed guard: `python -m entrycache_dev.matrix.search_matrix`.

`ask_seeds` asks the seeded runs about the changed guards of one system, seed by seed, and explains the changes that no
outcome shows. Its state is JSON that is kept after each part, so a stopped run continues later. The second half is the
command and the page docs/reference/search-matrix.md.
"""

import dataclasses
import hashlib
import json
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations, islice
from pathlib import Path
from typing import Any, Final

import click

from entrycache_conformance.levels import PROFILES
from entrycache_conformance.systems.reference import reference_subject
from entrycache_dev.matrix import generate, mutants, process, run, seeded_search
from entrycache_protocol import case, errors, files
from entrycache_protocol.declaration import Declaration

PATIENCE: Final = 2
"""The number of whole seeds after which an unseen change is not asked about any more."""

BLOCK: Final = 12
"""The number of seeds that are asked together; the result is written after each block."""

FEW: Final = 25
"""The number of quick cases of a seed under a variant."""

ARGUED: Final = "argued"
UNEXPLAINED: Final = "not explained"
ROWS: Final = "only rows of a trace"

State = dict[str, Any]
"""The state of the search, as JSON: `of` identifies the changes and cases, and `seeds` counts seeds.

`unseen` lists, by the id of a change, the seeds that do not show it; `silent` says why no outcome shows it; `under` is
its variant. `begun` exists during the first seeds: `never` are changes that none of them shows, `looks` the variants
asked, and `rows` the changes that only rows show.
"""

Keep = Callable[[State], None]

NO_VARIANT: Final = ""
"""The name of the declaration whose variants are all at their default."""


def ask_seeds(
    changes: Sequence[generate.Change], search: seeded_search.SearchSettings, seeds: int,
    of_silent: Mapping[str, str], known: State, keep: Keep, report: seeded_search.Progress = lambda _: None,
) -> State:  # fmt: skip
    """Ask the seeded runs about the changes, seed by seed from 0 on; `known` is continued if it is about them."""
    about = fingerprint(changes, search)
    state = known if known.get("of") == about else empty_state(changes, search) | {"of": about}
    if "begun" in state:
        state = ask_first_seeds(changes, search, of_silent, state, keep, report)
    since = {name: ARGUED for name, why in state["silent"].items() if why == UNEXPLAINED and name in of_silent}
    state = {**state, "silent": {**state["silent"], **since}}
    keep(state)
    while state["seeds"] < seeds:
        block = range(state["seeds"], min(seeds, state["seeds"] + BLOCK))
        unseen = _ask_block(changes, search, block, state, report)
        state = {**state, "seeds": block.stop, "unseen": _join_seeds(state["unseen"], unseen)}
        keep(state)
    return state


def empty_state(changes: Sequence[generate.Change], search: seeded_search.SearchSettings) -> State:
    """Return the state before the first question."""
    empty: State = {"silent": {}, "under": {}, "unseen": {}, "begun": {}}
    return {"examples": search.profile.examples, "changes": len(changes), "seeds": 0, **empty}


def fingerprint(changes: Sequence[generate.Change], search: seeded_search.SearchSettings) -> str:
    """Return an id of the changes and their cases; another id makes earlier results useless."""
    first = [
        generated
        for cases in (seeded_search.cases_of, seeded_search.profile_cases)
        for generated in islice(cases(search.declaration, search.profile, 0), search.quick)
    ]
    workloads = [
        [str(workload), one_to] for workload, one_to in search.declaration.system.cases.extra_workloads.items()
    ]
    ids = sorted(change.id for change in changes)
    text = [search.profile.examples, workloads, ids, [case.case_to_json(generated.case) for generated in first]]
    return hashlib.sha256(json.dumps(text).encode()).hexdigest()[:16]


def ask_first_seeds(
    changes: Sequence[generate.Change], search: seeded_search.SearchSettings, of_silent: Mapping[str, str],
    state: State, keep: Keep, report: seeded_search.Progress,
) -> State:  # fmt: skip
    """Ask the first seeds, and explain the changes that none of them shows; the state is kept after each part."""
    first = range(PATIENCE)
    if not state["begun"]:
        unseen = seeded_search.find_missed_seeds(changes, search, first, report)
        never = [name for name, seeds in unseen.items() if seeds == tuple(first)]
        seldom = {name: list(seeds) for name, seeds in unseen.items() if seeds and name not in never}
        state = {**state, "unseen": seldom, "begun": {"never": never, "looks": [], "rows": []}}
        keep(state)
    for number in (0, 1, 2):
        for name, declaration in variants_of(search.declaration, (number,)).items():
            if name not in state["begun"]["looks"]:
                state = _ask_under_variant(changes, search._replace(declaration=declaration), name, state, of_silent)
                keep(state)
    rows, never = state["begun"]["rows"], state["begun"]["never"]
    silent = {name: _reason(name in rows, name in of_silent) for name in never if name not in state["under"]}
    known = {key: value for key, value in state.items() if key != "begun"} | {"seeds": PATIENCE, "silent": silent}
    under = {
        name: seeds
        for name, seeds in _ask_block(changes, search, first, known, report).items()
        if name in known["under"]
    }
    return {**known, "unseen": _join_seeds(known["unseen"], under)}


def _ask_under_variant(
    changes: Sequence[generate.Change], search: seeded_search.SearchSettings, name: str, state: State,
    of_silent: Mapping[str, str],
) -> State:  # fmt: skip
    """Return the state after the cases of one variant, or of the default, for the rows."""
    progress = state["begun"]
    left = [one for one in changes if one.id in progress["never"] and one.id not in state["under"]]
    if ", " in name:  # a pair of variants is asked only about what nothing else explains
        left = [one for one in left if one.id not in progress["rows"] and one.id not in of_silent]
    cases = seeded_search.first_cases(search) if left else []
    detected = (
        seeded_search.shown_by_outcomes(left, search, cases) if name != NO_VARIANT else []
    )  # whole seeds of the default have not shown them
    rest = [one for one in left if one not in detected and one.id not in progress["rows"]]
    rows = {one.id for one in seeded_search.shown_by_rows(rest, search, cases)}
    return {
        **state,
        "under": {**state["under"], **{one.id: name for one in detected}},
        "begun": {**progress, "looks": [*progress["looks"], name], "rows": sorted({*progress["rows"], *rows})},
    }


def _reason(by_rows: bool, has_argument: bool) -> str:
    if by_rows:
        return ROWS
    return ARGUED if has_argument else UNEXPLAINED


def _ask_block(
    changes: Sequence[generate.Change], search: seeded_search.SearchSettings, seeds: range, state: State,
    report: seeded_search.Progress,
) -> dict[str, tuple[int, ...]]:  # fmt: skip
    """Return the seeds that do not show a change, each asked under its variant."""
    missed: dict[str, tuple[int, ...]] = {}
    for name, declaration in variants_of(search.declaration, (0, 1, 2)).items():
        some = [
            one for one in changes if one.id not in state["silent"] and state["under"].get(one.id, NO_VARIANT) == name
        ]
        if some:
            quick = search.quick if name == NO_VARIANT else min(FEW, search.quick)
            missed |= seeded_search.find_missed_seeds(
                some, search._replace(declaration=declaration, quick=quick), seeds, report
            )
    return missed


def _join_seeds(before: Mapping[str, Sequence[int]], more: Mapping[str, Sequence[int]]) -> dict[str, list[int]]:
    names = [*before, *(name for name in more if name not in before)]
    both = {name: [*before.get(name, ()), *more.get(name, ())] for name in names}
    return {name: seeds for name, seeds in both.items() if seeds}


def variants_of(declaration: Declaration, at_once: Sequence[int]) -> dict[str, Declaration]:
    """Return the declaration under each combination of `at_once` variants, by their names."""
    default = declaration.system.model.variants()
    other_variants = [
        (field.name, other)
        for field in dataclasses.fields(default)
        for other in type(getattr(default, field.name))
        if other is not getattr(default, field.name)
    ]
    return {
        ", ".join(f"{name}={other.value}" for name, other in some): dataclasses.replace(
            declaration, variants=dataclasses.replace(default, **dict(some))
        )
        for number in at_once
        for some in combinations(other_variants, number)
        if len(dict(some)) == number
    }


# --- The command and its page

TABLE: Final = Path(__file__).with_name("search-matrix.json")
SECONDS: Final = seeded_search.SECONDS
HEAD: Final = f"""# What a run sees of a changed guard

This page is rendered from `conformance/entrycache_dev/matrix/search-matrix.json`, which `python -m
entrycache_dev.matrix.search_matrix --write` writes; a stopped run continues where it was.

A changed guard is a one-token change of a comparison, a condition, an operand or a constant of a reference. It plays
the seeded cases of `conform` at profile ci, seed by seed from 0 on, as a subject would. Changes that are argued to
change nothing (`equivalent.toml`) are left out. A change that two whole seeds miss is tried under the variants of
releases, one at a time and, if nothing else explains it, two at once; then at every seed under the first variant that
shows it. If no variant shows it, the page says why no outcome does. A quarter of a run's cases is left out. A change
counts as detected if a case raises or takes more than {SECONDS:g} s of processor time; the reference took at most
0.17 s at seed 0. A change that makes all cases slower, but none of them this slow, does not count. A system without a
line has not been tried yet.

| system | changed guards | by a variant | seeds | seen at all | all but one | fewer | by no outcome | not explained |
|---|---|---|---|---|---|---|---|---|"""

EARLIER: Final = """These systems were tried before runs had edge cases, and have not been tried again."""

SYSTEMS_BY_NAME: Final = {system.name: system for system in mutants.TESTED_SYSTEMS}
"""The systems that are asked about, by name."""

UNSURE: Final = 1
"""The number of seeds at which a change may go unseen."""

SILENT: Final = Path(__file__).parent / "silent.toml"
"""The file of changes that no case can show by an outcome, each with the argument."""


@click.command()
@click.option(
    "--seeds", type=click.IntRange(2), default=50, show_default=True, help="Try this number of seeds, from 0 on."
)
@click.option(
    "--profile", type=click.Choice(list(PROFILES)), default="ci", show_default=True, help="The profile of the runs."
)
@click.option(
    "--system", "names", multiple=True, type=click.Choice(list(SYSTEMS_BY_NAME)), help="Try this system; default: all."
)
@click.option("--only", default="", help="Try modules whose name contains this text, such as kafka_streams.flush.")
@click.option("--write", is_flag=True, help=f"Write {TABLE.name}; other systems stay.")
def main(seeds: int, profile: str, names: tuple[str, ...], only: str, write: bool) -> None:
    """Report the changed guards that seeded runs miss at more than one seed; exit with 1 if there are any."""
    every = mutants.generate_all_changes()
    because = mutants.load_arguments({change.id for change in every})
    of_silent = tomllib.loads(SILENT.read_text("utf-8"))
    at_import = process.run_in_child(run.functions_called_at_import)
    weak = 0
    for system in (SYSTEMS_BY_NAME[name] for name in names or SYSTEMS_BY_NAME):
        changes = [
            one for one in seeded_search.select_guards(every, system) if one.id not in because and only in one.module
        ]
        search = seeded_search.SearchSettings(reference_subject(system).declaration, PROFILES[profile], at_import)

        def keep(state: State, changes: Sequence[generate.Change] = changes, name: str = system.name) -> None:
            if write:
                _write({**_committed()["systems"], name: _with_places(state, changes, of_silent)})

        known = _committed()["systems"].get(system.name, {}) if write else {}
        state = ask_seeds(changes, search, seeds, of_silent, known, keep, _progress(len(changes)))
        final_state = _with_places(state, changes, of_silent)
        print("\n".join(_describe_result(system.name, final_state)), flush=True)
        weak += len(_weak(final_state))
    sys.exit(int(weak > 0))


def _with_places(state: State, changes: Sequence[generate.Change], of_silent: Mapping[str, str]) -> State:
    """Add the places of the changes that the page names, and the arguments about them."""
    named = {change.id: change for change in changes if change.id in _named(state)}
    places = {
        name: {"file": one.file, "function": one.function, "kind": one.kind, "old": one.old, "new": one.new}
        for name, one in named.items()
    }
    argued = {name: of_silent[name] for name, reason in state["silent"].items() if reason == ARGUED}
    return {**state, "places": places, "argued": argued}


def _named(state: State) -> set[str]:
    return {*state["unseen"], *(name for name, why in state["silent"].items() if why in {ARGUED, UNEXPLAINED})}


def _weak(state: State) -> dict[str, list[int]]:
    """Return the changes that more than one seed misses, and unexplained silent ones without seeds."""
    seldom = {name: seeds for name, seeds in state["unseen"].items() if len(seeds) > UNSURE}
    return seldom | {name: [] for name, why in state["silent"].items() if why == UNEXPLAINED}


def _counts(state: State) -> dict[str, int]:
    seeds = [len(some) for some in state["unseen"].values()]
    unexplained = sum(why == UNEXPLAINED for why in state["silent"].values())
    return {
        "changes": state["changes"],
        "under a variant": len(state["under"]),
        "seeds": state["seeds"],
        "at every seed": state["changes"] - len(state["silent"]) - len(seeds),
        "at all but one": sum(one <= UNSURE for one in seeds),
        "at fewer": sum(one > UNSURE for one in seeds),
        "shown by no outcome": len(state["silent"]) - unexplained,
        "not explained": unexplained,
    }


def _describe_result(name: str, state: State) -> Iterator[str]:
    yield f"{name}: " + ", ".join(f"{number} {what}" for what, number in _counts(state).items())
    for one, seeds in _weak(state).items():
        yield f"  {one} {_code(state['places'][one])}: {_missed_at(seeds, state)}"


def _missed_at(seeds: Sequence[int], state: State) -> str:
    missed = ", ".join(map(str, seeds))
    return f"missed at {len(seeds)} of {state['seeds']} seeds ({missed})" if seeds else "shown by nothing"


def _progress(number: int):  # type: ignore[no-untyped-def]
    def report(done: int) -> None:
        if sys.stderr.isatty():
            print(f"\r{done} of {number}", end="\n" if done == number else "", file=sys.stderr, flush=True)

    return report


def _committed() -> dict[str, Any]:
    return json.loads(TABLE.read_text("utf-8")) if TABLE.is_file() else {"systems": {}, "earlier": {}}


def _write(systems: Mapping[str, Any]) -> None:
    in_order = {name: systems[name] for name in SYSTEMS_BY_NAME if name in systems}
    requested = {name for name, state in systems.items() if "begun" not in state}
    earlier = {name: state for name, state in _committed()["earlier"].items() if name not in requested}
    table = {"schema": 2, "systems": in_order, "earlier": earlier}
    files.write_text(TABLE, json.dumps(table, indent=1) + "\n")


def render_committed() -> str:
    """Render the site's page of the committed table."""
    table = _committed()
    return render_page(table["systems"], table["earlier"])


def render_page(systems: Mapping[str, State], earlier: Mapping[str, Mapping[str, Any]]) -> str:
    """Render the page; `earlier` are counts of systems that were asked older cases."""
    lines = HEAD.splitlines()
    in_progress = [name for name, state in systems.items() if "begun" in state]
    systems = {name: state for name, state in systems.items() if name not in in_progress}
    lines += [f"| {name} | {' | '.join(map(str, _counts(state).values()))} |" for name, state in systems.items()]
    for name, state in systems.items():
        lines += ["", f"## {name}", ""]
        lines += [f"- shown by no outcome, {why}: {number}" for why, number in _reasons(state).items()]
        lines += [
            f"- tried under `{variant}`: {number}" for variant, number in Counter(state["under"].values()).items()
        ]
        lines += [f"- {_code(state['places'][one])}: {because}" for one, because in state["argued"].items()]
        lines += [
            f"- missed at seed {seeds[0]} alone: {_code(state['places'][one])}"
            for one, seeds in state["unseen"].items()
            if len(seeds) <= UNSURE
        ]
        lines += [
            f"- **{_missed_at(seeds, state)}**: {_code(state['places'][one])}" for one, seeds in _weak(state).items()
        ]
    if in_progress:
        lines += ["", f"In progress, without a result yet: {', '.join(in_progress)}."]
    if earlier:
        lines += ["", "## With the cases of an earlier version", "", EARLIER, ""]
    for name, before in earlier.items():
        numbers = ", ".join(f"{number} {what}" for what, number in before["counts"].items())
        lines += [f"- {name}: {numbers}", *(f"- {name}: {line}" for line in before["since"])]
    return "\n".join(lines) + "\n"


def _reasons(state: State) -> dict[str, int]:
    return dict(sorted(Counter(state["silent"].values()).items()))


def _code(place: Mapping[str, Any]) -> str:
    return f"`{place['file']}`, `{place['function']}`: `{place['old']}` becomes `{place['new']}`"


if __name__ == "__main__":
    try:
        main(standalone_mode=True)
    except errors.UsageError as error:
        print(f"entrycache: {error}", file=sys.stderr)
        sys.exit(2)
