"""Catch every seeded fault and changed jar, and render the site's page of the cases that catch them.

`python -m entrycache_dev.pages.faults [NAME...]` runs the suite on each fault through a child process, shrinks the
failure, and writes seeded-faults.jsonl, one line for each fault. `FAULTS` lists the faults of every system.
`catch_fault` runs one faulty subject with a few seeds; `catch_seeded_faults` and `catch_changed_jars` run several.
`render_page` makes the page from the file. The tests compare the file with a fresh run.
"""

import json
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from entrycache_conformance import resolve, run
from entrycache_conformance.levels import PROFILES
from entrycache_conformance.systems import SYSTEMS
from entrycache_dev import changed_jars
from entrycache_evidence.core.scheduler import map_in_processes
from entrycache_faults.fast import kafka_streams as fast_kafka_streams
from entrycache_faults.fast import pulsar_pip430 as fast_pulsar_pip430
from entrycache_faults.fast import pulsar_segmented as fast_pulsar_segmented
from entrycache_faults.model import load_catalogue
from entrycache_faults.reference.kafka_streams import subjects as kafka_streams
from entrycache_faults.reference.pulsar_legacy import passes as pulsar_legacy
from entrycache_faults.reference.pulsar_pip430 import subjects as pulsar_pip430
from entrycache_faults.reference.pulsar_segmented import ring as pulsar_segmented
from entrycache_protocol import codec, files
from entrycache_protocol.case import Case, read_case
from entrycache_protocol.subject import TestedSubject
from entrycache_reference.pulsar_pip430.ops import LEVELS


class SystemFaults(NamedTuple):
    """The seeded faults of one system on the page.

    `groups` maps a title to the faults below it and the level of their runs; with the level None, `find_level` decides
    by the case of a fault. `origin` is what the faults change; `changes` are the changed jars, described by `jars`.
    """

    groups: Mapping[str, tuple[Collection[str], str | None]]
    find_level: Callable[[Case], str]
    jars: str = ""
    changes: Mapping[str, changed_jars.JarChange] = MappingProxyType({})
    origin: str = "the reference or our fast cache"


def pulsar_level(case: Case) -> str:
    """Return the highest level of a case's operations; at least `manager` if its inserts cross the trigger."""
    inserted = sum(op.size for op in case.steps if type(op).name == "insert")
    crosses = 0 < int(case.config.max_size_bytes * 0.98) < inserted
    return LEVELS[max(LEVELS.index("manager") if crosses else 0, *(LEVELS.index(type(op).level) for op in case.steps))]


FAULTS: Final = (
    SystemFaults(
        groups={
            "Pulsar, levels range and queue": ((*pulsar_pip430.QUEUE, *fast_pulsar_pip430.QUEUE), None),
            "Pulsar, level manager": ((*pulsar_pip430.MANAGER, *fast_pulsar_pip430.MANAGER), "manager"),
            "Pulsar, level reads": ((*pulsar_pip430.READS, *fast_pulsar_pip430.READS), "reads"),
            "Pulsar, level cursors": ((*pulsar_pip430.CURSORS, *fast_pulsar_pip430.CURSORS), "cursors"),
            "Pulsar, level ledger": (pulsar_pip430.LEDGER, "ledger"),
            "Pulsar, level pending": (pulsar_pip430.PENDING, "pending"),
            "Pulsar, level inflight": (pulsar_pip430.INFLIGHT, "inflight"),
            "Pulsar, level limits": (pulsar_pip430.LIMITS, "limits"),
        },
        find_level=pulsar_level,
        jars="the released Pulsar 4.2.4 with one changed instruction each",
        changes=changed_jars.PULSAR_PIP430_CHANGES,
    ),
    SystemFaults(
        groups={
            "Kafka Streams, level cache": ((*kafka_streams.CACHE, *fast_kafka_streams.CACHE), "cache"),
            "Kafka Streams, level store": (kafka_streams.STORE, "store"),
            "Kafka Streams, level views": (kafka_streams.VIEWS, "views"),
        },
        find_level=lambda case: "cache",
        jars="the released Kafka Streams 4.3.1 with one changed place each",
        changes=changed_jars.KAFKA_STREAMS_CHANGES,
    ),
    SystemFaults(
        groups={
            "Pulsar's proposed segments, the ring": (pulsar_segmented.RING, "all"),
            "Pulsar's proposed segments, lookups": ((*pulsar_segmented.LOOKUPS, *fast_pulsar_segmented.LOOKUPS), "all"),
        },
        find_level=lambda case: "all",
    ),
    SystemFaults(
        groups={"Pulsar 4.0 and before": (pulsar_legacy.SUBJECTS, "all")},
        find_level=lambda case: "all",
        jars="the released Pulsar 4.0.8 with one changed instruction each",
        changes=changed_jars.PULSAR_LEGACY_CHANGES,
        origin="the reference",
    ),
)
"""The faults of every system, in the order of the page."""

CHANGES: Final = {name: change for part in FAULTS for name, change in part.changes.items() if change.what}
"""The changes of released jars that the page shows."""

SEEDS = (0, 1, 2)
"""The seeds in their order; the next one is tried if one finds nothing."""


class CaughtFault(NamedTuple):
    """A fault with the failure that caught it."""

    name: str
    jar: str
    rules: tuple[str, ...]
    step: int
    expected: str
    got: str
    file: Path

    @property
    def case(self) -> Case:
        """The shrunk case of the failure."""
        return read_case(self.file, SYSTEMS)


Start = Callable[[resolve.SubjectChoice], TestedSubject]
"""A function that starts the chosen subject; its caller closes it."""


def catch_fault(
    choice: resolve.SubjectChoice,
    name: str,
    folder: Path,
    levels: tuple[str, ...],
    start: Start = resolve.resolve_subject,
) -> CaughtFault:
    """Run the suite on a faulty subject with one seed after another; prefer a failure that has an answer."""
    for seed in SEEDS:
        subject = start(choice)
        try:
            report = run.conform(subject, run.Options(levels, PROFILES["dev"], seed, 0.0, folder))
        finally:
            subject.close()
        if report.failures:
            break
    assert report.failures, f"{name} was not caught with the seeds {SEEDS}"
    answered = [failure for failure in report.failures if "failed" not in failure.got]
    failure = (answered or report.failures)[0]
    got = failure.got.get("failed") or codec.format_json(failure.got)
    jar = choice.name or "" if choice.classpath else ""
    expected = codec.format_json(failure.expected)
    return CaughtFault(name, jar, failure.rules, failure.step, expected, got, Path(failure.case))


GROUPS: Final = [(part, title, names, level) for part in FAULTS for title, (names, level) in part.groups.items()]
LEVEL: Final = {name: (part, level) for part, _, names, level in GROUPS for name in sorted(names)}
"""The system and the level of each fault."""

NAMES = tuple(LEVEL)


def describe_fault(case: Case) -> str:
    """Return what a seeded fault does, and the rules that it breaks on purpose."""
    return f"{case.note} ({', '.join(case.rules)})"


def catch_seeded_fault(name: str, folder: Path, start: Start = resolve.resolve_subject) -> CaughtFault:
    """Catch one seeded fault, through the protocol unless `start` says otherwise."""
    case = load_catalogue(SYSTEMS)[name]
    choice = resolve.SubjectChoice(name, timeout_seconds=8.0 if name.startswith("liveness") else 10.0)
    part, level = LEVEL[name]
    return catch_fault(choice, name, folder, (level or part.find_level(case),), start)


def catch_seeded_faults(
    folder: Path, names: Sequence[str] = NAMES, start: Start = resolve.resolve_subject
) -> list[CaughtFault]:
    """Catch several seeded faults in as many processes as there are cores."""
    return map_in_processes(partial(catch_seeded_fault, folder=folder, start=start), names)


def catch_changed_jars(folder: Path, names: Collection[str] = CHANGES.keys()) -> Iterator[tuple[CaughtFault, Path]]:
    """Write and catch changed jars; yield each failure with the path of its jar."""
    wanted = {name: change for name, change in CHANGES.items() if name in names}
    jars = changed_jars.write_changed_jars(folder / "jars", wanted)
    for name, change in wanted.items():
        choice = resolve.SubjectChoice(change.subject, classpath=str(jars[name]), timeout_seconds=6.0)
        yield catch_fault(choice, name, folder, change.levels), jars[name]


RESULTS: Final = Path(__file__).with_name("seeded-faults.jsonl")
"""The file of committed results, a line for each fault."""


def fault_record(caught: CaughtFault) -> dict[str, Any]:
    """Return the line of one fault: the failure that caught it, with its shrunk steps."""
    return {
        "name": caught.name,
        **({"jar": caught.jar} if caught.jar else {}),
        "rules": list(caught.rules),
        "steps": [f"{type(op).name}  {codec.format_arguments(op)}".rstrip() for op in caught.case.steps],
        "step": caught.step,
        "expected": caught.expected,
        "got": caught.got,
    }


Records = Mapping[tuple[str, str], Mapping[str, Any]]
"""Results by the jar and the name of the fault; a fault of ours has no jar."""

KEYS: Final = (*(("", name) for name in NAMES), *((change.subject, name) for name, change in CHANGES.items()))
"""The keys of all results, in the order of the page."""


def read_records() -> Records:
    """Read the committed results."""
    records = map(json.loads, RESULTS.read_text(encoding="utf-8").splitlines())
    return {(record.get("jar", ""), record["name"]): record for record in records}


def write_records(records: Records) -> None:
    """Write the results in the order of the page; leave out faults that are no longer there."""
    in_order = (records[key] for key in KEYS if key in records)
    files.write_text(RESULTS, "".join(json.dumps(record) + "\n" for record in in_order))


HEAD: Final = """# Seeded faults, and how they are caught

Each fault was caught through a child process and shrunk, at the level that it is about (profile dev, the first of the
seeds 0 to 2 that finds the fault). `entrycache conform NAME` repeats that. The rule behind a fault's description is the
rule that it breaks on purpose; "caught by" names the rules that the suite reports, the likeliest first. The results
stand in `conformance/entrycache_dev/pages/seeded-faults.jsonl`; `python -m entrycache_dev.pages.faults NAME` writes the
line of a fault again, and tests compare the lines with a fresh run.
"""


def render_page(records: Records) -> str:
    """Return the whole page, made of the committed results."""
    parts = [HEAD, "| faults of our own caches | number | median of steps | most steps |", "|---|---:|---:|---:|"]
    for _, title, names, _ in GROUPS:
        steps = [len(records["", name]["steps"]) for name in names]
        parts.append(f"| {title} | {len(steps)} | {median(steps):g} | {max(steps)} |")
    parts.append("")
    catalogue = load_catalogue(SYSTEMS)
    for part, title, names, _ in GROUPS:
        parts += [f"## {title}: {part.origin} with one fault each", ""]
        parts += [_section(records["", name], describe_fault(catalogue[name])) for name in sorted(names)]
    for part in (part for part in FAULTS if part.changes):
        parts += [f"## Changed jars: {part.jars}", ""]
        parts += [
            _section(records[change.subject, name], change.what) for name, change in part.changes.items() if change.what
        ]
    return "\n".join(parts).rstrip() + "\n"


def _section(record: Mapping[str, Any], what: str) -> str:
    """Return the section of one fault."""
    sentence = f"{what[0].upper()}{what[1:]}"
    lines = [f"### {record['name']}", "", sentence if sentence.endswith(")") else f"{sentence}.", ""]
    lines.append(f"Caught by {', '.join(record['rules'])} in {len(record['steps'])} steps:")
    lines += ["", "```text", *(f"{at}  {step}" for at, step in enumerate(record["steps"])), "```", ""]
    lines += [f"Step {record['step']}: expected `{record['expected']}`, got `{record['got']}`.", ""]
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> int:
    """Catch the named faults, or all; write their lines."""
    unknown = sorted({*arguments} - {*NAMES, *CHANGES})
    if unknown:
        print(f"no seeded fault or changed jar {unknown[0]!r}; `entrycache faults` lists them", file=sys.stderr)
        return 2
    requested = arguments or (*NAMES, *CHANGES)
    with files.scratch_folder() as folder:
        caught = catch_seeded_faults(folder, [name for name in NAMES if name in requested])
        if CHANGES.keys() & set(requested):
            caught += [fault for fault, _ in catch_changed_jars(folder, requested)]
        results = {(fault.jar, fault.name): fault_record(fault) for fault in caught}
    write_records({**read_records(), **results})
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
