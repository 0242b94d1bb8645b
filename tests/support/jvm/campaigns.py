"""Plays the random topologies and stores of docs/campaigns on the releases of Kafka Streams.

    python -m tests.support.jvm.campaigns NAME FIRST_SEED COUNT [FIRST_SEED COUNT]

runs them on each release that has a driver and writes what it met into docs/campaigns/NAME/results.json. Where fixes of
findings leave less to excuse, the release that they are made for is played with them too, with the second seeds.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any, Final, NamedTuple

from entrycache_conformance.java.driver import JavaTestClasspath, java_test_classpath
from entrycache_conformance.java.program import compile_sources, main_class
from entrycache_conformance.java.releases import Release
from entrycache_protocol.files import write_text
from tests.support import ROOT
from tests.support.findings import FINDINGS
from tests.support.jvm.fixes import fixed, sources_jar
from tests.support.jvm.params import MEASURED
from tests.support.jvm.rocks import with_rocks

SECONDS: Final = 1_800
QUICK_START: Final = ("-XX:TieredStopAtLevel=1",)
FIXED: Final = "fixed"


class Campaign(NamedTuple):
    """A program in a folder of its own, with its page and results."""

    name: str
    program: str
    fixes: tuple[str, ...] = ()
    """Findings whose fixes leave nothing, or less, to excuse; the program also has stores on disk."""

    @property
    def folder(self) -> Path:
        """The folder of the campaign."""
        return ROOT / "docs" / "campaigns" / self.name

    @property
    def source(self) -> Path:
        """The program."""
        return self.folder / f"{self.program}.java"

    @property
    def results(self) -> Path:
        """Return what the committed run saw."""
        return self.folder / "results.json"


TOPOLOGIES: Final = Campaign("topologies", "RandomTopologies")
PAIRED_STORES: Final = Campaign(
    "twins",
    "TwinStores",
    (
        "kafka-reverse-view-shows-deleted",
        "kafka-backward-sessions-missed",
        "kafka-null-bounds-repeat-windows",
        "kafka-sessions-of-one-end-repeat",
        "kafka-sessions-by-end-unsupported",
    ),
)
DSL: Final = Campaign(
    "dsl",
    "RandomDsl",
    (
        "kafka-suppress-forwards-wrong-old-value",
        "kafka-initializer-sent-as-old-value",
        "kafka-foreign-key-join-keeps-row",
    ),
)
REVIVAL: Final = Campaign(
    "revival",
    "RevivedTasks",
    ("kafka-revived-task-keeps-stream-time", "kafka-join-buffer-restored-wrong"),
)
CAMPAIGNS: Final = {campaign.name: campaign for campaign in (TOPOLOGIES, PAIRED_STORES, DSL, REVIVAL)}


def front_of(campaign: Campaign, folder: Path) -> Path:
    """The compiled fixes of its findings."""
    release = MEASURED[-1]
    patches = [FINDINGS / name / "fix.patch" for name in campaign.fixes]
    return fixed(release, patches, sources_jar(release, folder), folder / "fixes")


def other_sources(source: Path) -> list[Path]:
    """The other files of a program: those of its folder that are no programs themselves."""
    others = sorted(path for path in source.parent.glob("*.java") if path != source)
    return [path for path in others if "static void main(" not in path.read_text("utf-8")]


def run_program(
    source: Path, tools: JavaTestClasspath, folder: Path, *arguments: str, ends: tuple[int, ...] = (0,)
) -> tuple[int, dict[str, Any]]:
    """The exit code of a campaign's program, and the JSON object that it printed.

    Args:
        source: The program.
        tools: What it is compiled and run with.
        folder: For compiled classes.
        arguments: The arguments of the program.
        ends: The exit codes of a complete run.
    """
    built = compile_sources([source, *other_sources(source)], tools, folder)
    done = built.run(main_class(source), *arguments, options=QUICK_START, timeout_seconds=SECONDS)
    assert done.returncode in ends, done.stderr
    return done.returncode, json.loads(done.stdout)


def play(
    campaign: Campaign, release: Release, seeds: tuple[int, int], folder: Path, *, mode: str = ""
) -> tuple[int, dict[str, Any]]:
    """Run the program on a release and return its exit code and its JSON object.

    Args:
        campaign: Whose program.
        release: What it runs on.
        seeds: The first one, and how many.
        folder: For compiled classes.
        mode: ``fixed`` for the fixes in front of the release, or what the program names as a harm.
    """
    tools = java_test_classpath(release.subject, str(front_of(campaign, folder)) if mode == FIXED else None)
    if campaign.fixes:
        tools = with_rocks(tools, folder)
    arguments = [*map(str, seeds), *([mode] if mode else [])]
    return run_program(campaign.source, tools, folder / "out", *arguments, ends=(0, 1))


def main(name: str, *numbers: str) -> None:
    """Play on every release, and write the results."""
    campaign = CAMPAIGNS[name]
    first, *more = [(int(numbers[at]), int(numbers[at + 1])) for at in range(0, len(numbers), 2)]
    results = {}
    with tempfile.TemporaryDirectory() as scratch:
        for release in MEASURED:
            print(release.subject, file=sys.stderr, flush=True)
            results[release.subject] = play(campaign, release, first, Path(scratch, release.version))[1]
        for seeds in more:
            subject = f"{MEASURED[-1].subject} {FIXED}"
            print(subject, file=sys.stderr, flush=True)
            results[subject] = play(campaign, MEASURED[-1], seeds, Path(scratch, FIXED), mode=FIXED)[1]
    write_text(campaign.results, json.dumps({"schema": 1, "releases": results}) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
