"""Planted faults and changed jars, caught through the child process, and the page that lists them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

from entrycache_cli.systems import CLI_PARTS
from entrycache_conformance.levels import PROFILES
from entrycache_conformance.resolve import SubjectChoice, resolve_subject
from entrycache_conformance.run import Options, conform
from entrycache_conformance.systems import SYSTEMS
from entrycache_dev.changed_jars import write_changed_jars
from entrycache_evidence.core.scheduler import map_in_processes
from entrycache_faults.seeded import load_catalogue
from entrycache_protocol.case import Case, read_case
from entrycache_protocol.codec import format_arguments, format_json
from entrycache_protocol.files import scratch_folder
from entrycache_protocol.subject import TestedSubject

# --- page
# Catching every planted fault and every changed jar through the child process; the page that lists them.

FAULTS: Final = tuple(parts.faults for parts in CLI_PARTS.values() if parts.faults is not None)
CHANGES: Final = {name: change for part in FAULTS for name, change in part.changes.items() if change.what}
"""The changes of released jars that stand on the page."""

SEEDS = (0, 1, 2)
"""The next one is tried where one finds nothing."""


class CaughtFault(NamedTuple):
    """How a fault was caught."""

    name: str
    what: str
    rules: tuple[str, ...]
    step: int
    expected: str
    got: str
    file: Path

    @property
    def case(self) -> Case:
        """The shrunk case."""
        return read_case(self.file, SYSTEMS)


Start = Callable[[SubjectChoice], TestedSubject]
"""From a choice to a subject that is closed by whom it is given to."""


def catch_fault(
    choice: SubjectChoice, name: str, what: str, folder: Path, levels: tuple[str, ...], start: Start = resolve_subject
) -> CaughtFault:
    """Run the suite on a faulty subject, seed after seed; of its failures one with an answer comes first."""
    for seed in SEEDS:
        subject = start(choice)
        try:
            report = conform(subject, Options(levels, PROFILES["dev"], seed, 0.0, folder))
        finally:
            subject.close()
        if report.failures:
            break
    assert report.failures, f"{name} was not caught with the seeds {SEEDS}"
    answered = [failure for failure in report.failures if "failed" not in failure.got]
    failure = (answered or report.failures)[0]
    got = failure.got.get("failed") or format_json(failure.got)
    return CaughtFault(name, what, failure.rules, failure.step, format_json(failure.expected), got, Path(failure.case))


GROUPS: Final = [(part, title, names, level) for part in FAULTS for title, (names, level) in part.groups.items()]
LEVEL: Final = {name: (part, level) for part, _, names, level in GROUPS for name in sorted(names)}
"""Whose a fault is, and the level at which it is looked for."""

NAMES = tuple(LEVEL)


def catch_seeded_fault(name: str, folder: Path, start: Start = resolve_subject) -> CaughtFault:
    """One planted fault, behind the protocol unless another start is asked for."""
    case = load_catalogue(SYSTEMS)[name]
    choice = SubjectChoice(name, timeout_seconds=8.0 if name.startswith("liveness") else 10.0)
    what = f"{case.note} ({', '.join(case.rules)})"
    part, level = LEVEL[name]
    return catch_fault(choice, name, what, folder, (level or part.level_of(case),), start)


def catch_seeded_faults(
    folder: Path, names: Sequence[str] = NAMES, start: Start = resolve_subject
) -> list[CaughtFault]:
    """Each of these, by as many processes as there are cores."""
    return map_in_processes(partial(catch_seeded_fault, folder=folder, start=start), names)


def catch_changed_jars(folder: Path, names: Collection[str] = CHANGES.keys()) -> Iterator[tuple[CaughtFault, Path]]:
    """Each of these changed jars of the released caches, with its path."""
    wanted = {name: change for name, change in CHANGES.items() if name in names}
    jars = write_changed_jars(folder / "jars", wanted)
    for name, change in wanted.items():
        choice = SubjectChoice(change.subject, classpath=str(jars[name]), timeout_seconds=6.0)
        yield catch_fault(choice, name, change.what, folder, change.levels), jars[name]


def fault_section(caught: CaughtFault) -> str:
    """One fault on the page."""
    said = f"{caught.what[0].upper()}{caught.what[1:]}"
    lines = [f"### {caught.name}", "", said if said.endswith(")") else f"{said}.", ""]
    lines.append(f"Caught by {', '.join(caught.rules)} in {len(caught.case.steps)} steps:")
    lines += ["", "```text"]
    lines += [f"{at}  {type(op).name}  {format_arguments(op)}" for at, op in enumerate(caught.case.steps)]
    lines += ["```", "", f"Step {caught.step}: expected `{caught.expected}`, got `{caught.got}`.", ""]
    return "\n".join(lines)


HEAD = """# Planted faults, and how they are caught

Written by `make docs`; the tests hold this page to a fresh run (profile dev, the first of the seeds 0 to 2 that finds
it). Each fault was caught through the child process and shrunk, at the level that it is about; `entrycache conform
NAME` does it again. The rule behind a fault's description is the one it was planted against; "caught by" names what
the suite says, the likeliest rule first.
"""


def render_page(found: list[CaughtFault], jars: list[CaughtFault]) -> str:
    """The whole page."""
    by_name = {caught.name: caught for caught in found}
    parts = [HEAD, "| faults of our own caches | number | median of steps | most steps |", "|---|---:|---:|---:|"]
    for _, title, names, _ in GROUPS:
        steps = [len(by_name[name].case.steps) for name in names]
        parts.append(f"| {title} | {len(steps)} | {median(steps):g} | {max(steps)} |")
    parts.append("")
    for part, title, names, _ in GROUPS:
        parts += [f"## {title}: {part.of} with one fault each", ""]
        parts += [fault_section(by_name[name]) for name in sorted(names)]
    for part in (part for part in FAULTS if part.changes):
        parts += [f"## Changed jars: {part.changed}", ""]
        parts += [fault_section(caught) for caught in jars if caught.name in part.changes]
    return "\n".join(parts).rstrip() + "\n"


# --- __main__
# Write docs/reference/seeded-faults.md.

if __name__ == "__main__":
    with scratch_folder() as folder:
        written = render_page(catch_seeded_faults(folder), [caught for caught, _ in catch_changed_jars(folder)])
    Path("docs/reference/seeded-faults.md").write_text(written, encoding="utf-8")
