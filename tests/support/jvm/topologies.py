"""Plays the random topologies of docs/campaigns/topologies on the releases of Kafka Streams.

    python -m tests.support.jvm.topologies FIRST_SEED COUNT

runs them on each release that has a driver and writes what it met into docs/campaigns/topologies/results.json.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from entrycache_conformance.java.classpath import java_test_classpath
from entrycache_conformance.java.program import compiled, main_of
from entrycache_conformance.java.releases import Release, releases
from entrycache_protocol.output import write_text
from tests.support import ROOT

CAMPAIGN: Final = ROOT / "docs" / "campaigns" / "topologies"
SOURCE: Final = CAMPAIGN / "RandomTopologies.java"
RESULTS: Final = CAMPAIGN / "results.json"
SECONDS: Final = 590
QUICK_START: Final = ("-XX:TieredStopAtLevel=1",)


def play(release: Release, first_seed: int, count: int, folder: Path) -> tuple[int, dict[str, Any]]:
    """How the program ends on a release, and what it told."""
    program = compiled([SOURCE], java_test_classpath(release.subject), folder)
    done = program.run(main_of(SOURCE), str(first_seed), str(count), options=QUICK_START, timeout_seconds=SECONDS)
    assert done.returncode in (0, 1), done.stderr
    return done.returncode, json.loads(done.stdout)


def main(first_seed: str, count: str) -> None:
    """Play on every release, and write the results."""
    told = {}
    for release in releases("kafka-streams"):
        print(release.subject, file=sys.stderr)
        with tempfile.TemporaryDirectory() as folder:
            told[release.subject] = play(release, int(first_seed), int(count), Path(folder))[1]
    write_text(RESULTS, json.dumps({"schema": 1, "releases": told}, indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
