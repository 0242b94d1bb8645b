"""Catching every planted fault and every changed jar through the child process; the page that lists them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

from entrycache_cli.faults.jars import CHANGES, KAFKA_CHANGES, write_changed_jars
from entrycache_conformance.profiles import PROFILES
from entrycache_conformance.run import Options, conform
from entrycache_conformance.subjects.resolve import Choice, resolve
from entrycache_conformance.systems import SYSTEMS
from entrycache_faults.catalogue import catalogue
from entrycache_faults.fast.cursors import CURSORS
from entrycache_faults.fast.entries import ENTRIES
from entrycache_faults.fast.manager import MANAGER
from entrycache_faults.fast.passes import PASSES
from entrycache_faults.fast.readers import READERS
from entrycache_faults.fast.reads import READS
from entrycache_faults.fast.streams import CACHES
from entrycache_faults.fast.streams_stores import STORES
from entrycache_protocol.case import Case, read_case
from entrycache_protocol.text import arguments, compact
from entrycache_reference.pulsar_pip430.ops import LEVELS

PULSAR_JARS = {
    "time-cutoff-included": "the time predicate compares with <= instead of <",
    "size-one-entry-too-many": "the size predicate compares with > instead of >=",
    "requeue-keeps-accessed": "a requeue does not reset the accessed flag",
    "removal-keeps-size": "a removal by the queue does not lower the bytes of the cache",
}
"""The changed jars of Pulsar: what was changed in the released bytecode."""

CACHE_JARS = {
    "overflow-at-the-limit": "a write evicts while the total is >= the limit instead of >",
    "rewritten-key-keeps-its-turn": "a dirty key that is written again keeps its turn",
    "tombstones-stay-after-a-flush": "tombstones that were handed over stay in the cache",
    "flag-not-counted": "an entry does not count the byte of its dirty flag",
}
STORE_JARS = {
    "range-below-without-its-first-key": "a range of the store below does not hold its first key",
    "tombstone-does-not-hide": "a tombstone in the cache does not hide the key that lies below",
}
"""The changed jars of Kafka Streams, by the level that shows it."""

JARS = PULSAR_JARS | CACHE_JARS | STORE_JARS
"""All of them."""

JAR_LEVELS = {
    **dict.fromkeys(PULSAR_JARS, ("range", "queue")),
    **dict.fromkeys(CACHE_JARS, ("cache",)),
    **dict.fromkeys(STORE_JARS, ("store",)),
}
"""The levels at which a changed jar is run."""


SEEDS = (0, 1, 2)
"""The next one is tried where one finds nothing."""


class Caught(NamedTuple):
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


def level_of(case: Case) -> str:
    """The level that a case needs: that of its latest operation, `manager` at least where it crosses the trigger."""
    inserted = sum(op.size for op in case.steps if type(op).name == "insert")
    crosses = 0 < int(case.config.max_size_bytes * 0.98) < inserted
    return LEVELS[max(LEVELS.index("manager") if crosses else 0, *(LEVELS.index(type(op).level) for op in case.steps))]


def catch(choice: Choice, name: str, what: str, folder: Path, levels: tuple[str, ...]) -> Caught:
    """Run the suite on a faulty subject, seed after seed; of its failures one with an answer comes first."""
    for seed in SEEDS:
        subject = resolve(choice)
        try:
            report = conform(subject, Options(levels, PROFILES["dev"], seed, 0.0, folder))
        finally:
            subject.close()
        if report.failures:
            break
    assert report.failures, f"{name} was not caught with the seeds {SEEDS}"
    answered = [failure for failure in report.failures if "failed" not in failure.got]
    failure = (answered or report.failures)[0]
    got = failure.got.get("failed") or compact(failure.got)
    return Caught(name, what, failure.rules, failure.step, compact(failure.expected), got, Path(failure.case))


GROUPS: Final[dict[str, tuple[Collection[str], str | None]]] = {
    "Pulsar, levels range and queue": ((*ENTRIES, *PASSES), None),
    "Pulsar, level manager": (MANAGER, "manager"),
    "Pulsar, level reads": (READS, "reads"),
    "Pulsar, level cursors": ((*CURSORS, *READERS), "cursors"),
    "Kafka Streams, level cache": (CACHES, "cache"),
    "Kafka Streams, level store": (STORES, "store"),
}
"""The exhibits by what they are about, with the level at which they are looked for; None: that of their case."""

LEVEL = {name: level for names, level in GROUPS.values() for name in sorted(names)}
NAMES = tuple(LEVEL)

WORKERS = 2


def exhibit(name: str, folder: Path) -> Caught:
    """One exhibit, behind the protocol."""
    case = catalogue(SYSTEMS)[name]
    choice = Choice(name, timeout_seconds=8.0 if name.startswith("liveness") else 10.0)
    what = f"{case.note} ({', '.join(case.rules)})"
    return catch(choice, name, what, folder, (LEVEL[name] or level_of(case),))


def exhibits(folder: Path, names: Sequence[str] = NAMES) -> list[Caught]:
    """Each of these, by as many processes as there are workers."""
    with ProcessPoolExecutor(WORKERS, get_context("fork")) as pool:
        return list(pool.map(exhibit, names, [folder] * len(names)))


def changed_jars(folder: Path, names: Collection[str] = JARS.keys()) -> Iterator[tuple[Caught, Path]]:
    """Each of these changed jars of the released caches, with its path."""
    changes = {**CHANGES, **KAFKA_CHANGES}
    wanted = {name: what for name, what in JARS.items() if name in names}
    jars = write_changed_jars(folder / "jars", {name: changes[name] for name in wanted})
    for name, what in wanted.items():
        choice = Choice(changes[name].subject, classpath=str(jars[name]), timeout_seconds=6.0)
        yield catch(choice, name, what, folder, JAR_LEVELS[name]), jars[name]


def section(caught: Caught) -> str:
    """One fault on the page."""
    said = f"{caught.what[0].upper()}{caught.what[1:]}"
    lines = [f"### {caught.name}", "", said if said.endswith(")") else f"{said}.", ""]
    lines.append(f"Caught by {', '.join(caught.rules)} in {len(caught.case.steps)} steps:")
    lines += ["", "```text"]
    lines += [f"{at}  {type(op).name}  {arguments(op)}" for at, op in enumerate(caught.case.steps)]
    lines += ["```", "", f"Step {caught.step}: expected `{caught.expected}`, got `{caught.got}`.", ""]
    return "\n".join(lines)


HEAD = """# Planted faults, and how they are caught

Written by `make docs`; the tests hold this page to a fresh run (profile dev, the first of the seeds 0 to 2 that finds
it). Each fault was caught through the child process and shrunk, at the level that it is about; `entrycache conform
NAME` does it again. The rule behind a fault's description is the one it was planted against; "caught by" names what
the suite says, the likeliest rule first.
"""


def page(found: list[Caught], jars: list[Caught]) -> str:
    """The whole page."""
    by_name = {caught.name: caught for caught in found}
    parts = [HEAD, "| faults of our fast caches | number | median of steps | most steps |", "|---|---:|---:|---:|"]
    for title, (names, _) in GROUPS.items():
        steps = [len(by_name[name].case.steps) for name in names]
        parts.append(f"| {title} | {len(steps)} | {median(steps):g} | {max(steps)} |")
    parts.append("")
    for title, (names, _) in GROUPS.items():
        parts += [f"## {title}: our fast cache with one fault each", ""]
        parts += [section(by_name[name]) for name in sorted(names)]
    parts += ["## Changed jars: the released Pulsar 4.2.4 with one changed instruction each", ""]
    parts += [section(caught) for caught in jars if caught.name in PULSAR_JARS]
    parts += ["## Changed jars: the released Kafka Streams 4.3.1 with one changed place each", ""]
    parts += [section(caught) for caught in jars if caught.name not in PULSAR_JARS]
    return "\n".join(parts).rstrip() + "\n"
