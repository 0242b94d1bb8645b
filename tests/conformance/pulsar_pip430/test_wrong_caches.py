"""Wrong caches that an outsider might write are caught by the boundary cases of every run."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from entrycache_cli.main import main
from entrycache_conformance.judge import Coverage
from entrycache_conformance.levels import PROFILES
from entrycache_conformance.search import find_failure, profile_case_count
from entrycache_conformance.systems.pulsar_pip430.workload import WorkloadProfile
from tests.support.wrong.pulsar import LEVELS, PULSAR, Wrong, wrong

SEEDS = 50


def is_seen(kind: type[Wrong], seed: int) -> bool:
    """Return whether the boundary cases of one level of a run at profile ci find a failure."""
    subject = wrong(kind.__name__)
    menu = PULSAR.cases.menu(PULSAR.ops_up_to(LEVELS[kind]), LEVELS[kind])
    examples = profile_case_count(PROFILES["ci"].examples, PULSAR.cases.extra_workloads[WorkloadProfile.BOUNDARY])
    return (
        find_failure(subject, menu, examples, seed, Coverage(), workload=WorkloadProfile.BOUNDARY).failure is not None
    )


@pytest.mark.long
@pytest.mark.parametrize("kind", LEVELS, ids=lambda kind: kind.__name__)
def test_it_is_seen(kind: type[Wrong]) -> None:
    assert is_seen(kind, 0)


@pytest.mark.long
@pytest.mark.parametrize("kind", LEVELS, ids=lambda kind: kind.__name__)
def test_it_is_seen_at_every_seed(kind: type[Wrong]) -> None:
    assert [seed for seed in range(SEEDS) if not is_seen(kind, seed)] == []


@pytest.mark.long
@pytest.mark.parametrize("kind", list(LEVELS)[:4], ids=lambda kind: kind.__name__)
def test_the_command_says_so(kind: type[Wrong], tmp_path: Path) -> None:
    command = f"{sys.executable} -m tests.support.wrong.pulsar {kind.__name__}"
    options = ["--level", LEVELS[kind], "--profile", "ci", "--seed", "11", "--failures", str(tmp_path)]
    assert CliRunner().invoke(main, ["conform", "--command", command, *options]).exit_code == 1
