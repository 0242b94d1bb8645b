"""Measure the strength of the state machines: `python -m entrycache_dev.matrix.machine_matrix`.

A sample of the changed guards that show under the default behaviour is asked through the machines of
`entrycache.state_machine`, and through the seeded search at the same seed. The examples of a machine follow from its
seed until the first failure, so they are recorded once on the reference, level by level. Every changed reference then
answers them as a subject would (`seeded_search.py`). With `--write` the result is written into machine-matrix.json.
"""

import json
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import click
import hypothesis
from hypothesis import stateful

from entrycache_conformance.generate import GeneratedCase
from entrycache_conformance.judge import Coverage, run_reference
from entrycache_conformance.levels import PROFILES
from entrycache_conformance.state_machine import FAILURES, build_state_machine
from entrycache_conformance.systems.reference import reference_subject
from entrycache_dev.matrix import generate, mutants, process, run, search_matrix, seeded_search
from entrycache_protocol import files
from entrycache_protocol.case import Case
from entrycache_protocol.system import AnySystem

STEPS: Final = 50
"""The most steps of an example: the default of Hypothesis."""

BLOCK: Final = 300
"""The number of examples that are asked together. What they show is not asked again."""

GOAL: Final = 0.97
"""The share of the changes seen by the search that the machines must see."""

HEAD: Final = """# What the state machines see of a changed guard

This page is rendered from `conformance/entrycache_dev/matrix/machine-matrix.json`, which `python -m
entrycache_dev.matrix.machine_matrix --write` writes.

A [state machine](../how-to/stateful-tests.md) plays what Hypothesis chooses, beside a reference with one changed guard.
The changes are a random sample of those that no table explains as silent under the default behaviour. The machines get
{examples} examples of at most {steps} steps for each level, at seed {seed}, without shrinking. The
[seeded search](search-matrix.md) is asked about the same changes at the same seed. It gets 1,125 cases for each level
and those of its workload profiles, as a run of profile ci. The share is that of the machines in what the search sees.

| system | changed guards | sample | seen by the search | seen by the machines | share |
|---|---|---|---|---|---|
"""


def record_examples(system: AnySystem, level: str, examples: int, seed: int) -> list[Case]:
    """Return the cases that a machine plays at a level while nothing differs."""
    cases: list[Case] = []
    machine: Any = build_state_machine("reference", system.name, level, None, None, FAILURES)

    class Recorder(machine):  # type: ignore[misc]
        """The machine, which also keeps its cases."""

        def teardown(self) -> None:
            """Keep the case with its last queries."""
            super().teardown()
            cases.append(self.case)

    settings = hypothesis.settings(
        max_examples=examples,
        stateful_step_count=STEPS,
        phases=(hypothesis.Phase.generate,),
        database=None,
        deadline=None,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    stateful.run_state_machine_as_test(hypothesis.seed(seed)(Recorder), settings=settings)
    return cases


def examples_of(system: AnySystem, examples: int, seed: int) -> list[Case]:
    """Return the cases of all levels, in turn."""
    by_level = [record_examples(system, level, examples, seed) for level in system.levels]
    return [case for turn in zip(*by_level, strict=False) for case in turn]


def visible_changes(
    system: AnySystem, every: Sequence[generate.Change], state: Mapping[str, Any]
) -> list[generate.Change]:
    """Return the changed guards that no table explains as silent under the default behaviour."""
    because = mutants.load_arguments({change.id for change in every})
    hidden = {*because, *state["silent"], *state["under"]}
    return [change for change in seeded_search.select_guards(every, system) if change.id not in hidden]


def find_unseen(
    changes: Sequence[generate.Change], search: seeded_search.SearchSettings, cases: Sequence[Case]
) -> list[generate.Change]:
    """Return the changes that none of the cases shows."""
    left = list(changes)
    for some in _blocks(cases):
        if left:
            prepared = seeded_search.prepare_cases(left, search, {0: some})
            unseen = seeded_search.find_unseen_seeds(left, prepared, search)
            left = [change for change, seeds in zip(left, unseen, strict=True) if seeds]
    return left


def _blocks(cases: Sequence[Case]) -> Iterator[list[GeneratedCase]]:
    for at in range(0, len(cases), BLOCK):
        yield [GeneratedCase(case, run_reference(case, Coverage())) for case in cases[at : at + BLOCK]]


class UnseenChange(NamedTuple):
    """The place of a change that the machines miss, and whether the search sees it."""

    file: str
    function: str
    old: str
    new: str
    searched: bool


class Strength(NamedTuple):
    """The strength of the machines of one system: the visible changes, the sample, and what was missed.

    `searched` is the number of changes of the sample that the seeded search sees.
    """

    system: str
    changes: int
    sample: int
    searched: int
    unseen: tuple[UnseenChange, ...]

    @property
    def detected(self) -> int:
        """The number of changes of the sample that the machines saw."""
        return self.sample - len(self.unseen)


TABLE: Final = Path(__file__).with_name("machine-matrix.json")
"""The committed result."""


def to_json(strengths: Sequence[Strength], examples: int, seed: int) -> str:
    """Return the result as JSON, a line for each system."""
    lines = [json.dumps({**one._asdict(), "unseen": [change._asdict() for change in one.unseen]}) for one in strengths]
    head = f'{{"schema": 1, "examples": {examples}, "seed": {seed}, "systems": [\n'
    return head + ",\n".join(lines) + "\n]}\n"


def read_committed() -> tuple[list[Strength], int, int]:
    """Read the committed strengths, the number of examples and the seed."""
    table = json.loads(TABLE.read_text(encoding="utf-8"))
    strengths = [
        Strength(**{**one, "unseen": tuple(UnseenChange(**change) for change in one["unseen"])})
        for one in table["systems"]
    ]
    return strengths, table["examples"], table["seed"]


def render_committed() -> str:
    """Render the site's page of the committed result."""
    return render_page(*read_committed())


def render_page(strengths: Sequence[Strength], examples: int, seed: int) -> str:
    """Render the page."""
    changes, sample, searched = (
        sum(getattr(one, name) for one in strengths) for name in ("changes", "sample", "searched")
    )
    whole = Strength("all", changes, sample, searched, tuple(change for one in strengths for change in one.unseen))
    lines = [HEAD.format(examples=f"{examples:,}", steps=STEPS, seed=seed).rstrip()]
    lines += [
        f"| {one.system} | {one.changes} | {one.sample} | {one.searched} | {one.detected} | "
        f"{one.detected / one.searched:.1%} |"
        for one in (*strengths, whole)
    ]
    for searched, heading in ((True, "Seen by the search alone:"), (False, "Seen by neither:")):
        places = [place for place in whole.unseen if place.searched is searched]
        lines += ["", heading, ""] if places else []
        lines += [f"- `{place.file}`, `{place.function}`: `{place.old}` becomes `{place.new}`" for place in places]
    return "\n".join(lines).rstrip() + "\n"


@click.command()
@click.option("--examples", type=click.IntRange(1), default=1_000, show_default=True, help="Play this many a level.")
@click.option("--sample", "number", type=click.IntRange(1), default=200, show_default=True, help="Ask about so many.")
@click.option("--seed", default=0, show_default=True, help="The seed of the sample and of the machines.")
@click.option("--system", "names", multiple=True, type=click.Choice(list(search_matrix.SYSTEMS_BY_NAME)))
@click.option("--write", is_flag=True, help=f"Write {TABLE.name}.")
def main(examples: int, number: int, seed: int, names: tuple[str, ...], write: bool) -> None:
    """Report the changed guards that the machines miss; exit with 1 if they see fewer than they must."""
    every = mutants.generate_all_changes()
    states = search_matrix._committed()["systems"]
    at_import = process.run_in_child(run.functions_called_at_import)
    systems = [search_matrix.SYSTEMS_BY_NAME[name] for name in names or search_matrix.SYSTEMS_BY_NAME]
    visible = {system.name: visible_changes(system, every, states[system.name]) for system in systems}
    pool = [change for changes in visible.values() for change in changes]
    sample = frozenset(change.id for change in random.Random(seed).sample(pool, min(number, len(pool))))
    strengths = []
    for system in systems:
        search = seeded_search.SearchSettings(reference_subject(system).declaration, PROFILES["ci"], at_import)
        changes = [change for change in visible[system.name] if change.id in sample]
        unseen = find_unseen(changes, search, examples_of(system, examples, seed))
        missed = {name for name, seeds in seeded_search.find_missed_seeds(changes, search, [seed]).items() if seeds}
        places = tuple(
            UnseenChange(change.file, change.function, change.old, change.new, change.id not in missed)
            for change in unseen
        )
        one = Strength(system.name, len(visible[system.name]), len(changes), len(changes) - len(missed), places)
        strengths.append(one)
        print(f"{one.system}: {one.detected} of {one.sample} seen, by the search {one.searched}", flush=True)
        for place in places:
            print(f"  {place}", flush=True)
    if write:
        files.write_text(TABLE, to_json(strengths, examples, seed))
    detected, searched = (sum(getattr(one, name) for one in strengths) for name in ("detected", "searched"))
    sys.exit(int(detected < GOAL * searched))


if __name__ == "__main__":
    main()
