"""No backend finds a violation in generated cases that are recorded from the reference."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from entrycache_cli.commands.record import record
from entrycache_conformance.generate import make_case
from entrycache_conformance.judge import Coverage
from entrycache_conformance.resolve import SubjectChoice, resolve_subject
from entrycache_conformance.systems import SYSTEMS
from entrycache_conformance.systems.reference import reference_subject
from entrycache_dev.audit_mutations import Row, change_row, list_changes, rename_broker
from entrycache_reference.pulsar_legacy import NAME
from entrycache_spark.common.results import Verdict
from entrycache_spark.folders import audit_folder
from entrycache_trace.files import iterate_rows, list_parts, read_metadata
from tests.support.traces import plant

SEEDS = range(1, 25)
STEPS = 120


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[list[Row]], dict[str, Any]]:
    """Return the rows of each case, and the metadata of the trace."""
    system = SYSTEMS[NAME]
    subject = reference_subject(system)
    rows = []
    metadata_values: dict[str, Any] = {}
    for seed in SEEDS:
        menu = system.cases.menu(system.ops_up_to(system.levels[-1]))
        case = make_case(random.Random(seed).randint, subject.declaration, menu, Coverage(), STEPS).case
        folder = tmp_path_factory.mktemp("case") / "trace"
        record(resolve_subject(SubjectChoice("reference", system=NAME)), case, folder)
        metadata = read_metadata(folder)
        assert metadata.variants.get("single_lookup", "position") == "position"
        metadata_values = {"system": metadata.system, "clock": metadata.clock, "threads": metadata.threads}
        rows.append(rename_broker(iterate_rows(list_parts(folder)), f"{seed:02}"))
    return rows, metadata_values


@pytest.mark.long
@pytest.mark.parametrize("backend", ["local", "replay"])
def test_traces_of_the_reference_have_no_violations(
    tmp_path: Path, recorded: tuple[list[list[Row]], dict[str, Any]], backend: str
) -> None:
    rows, metadata_values = recorded
    trace = plant.write(tmp_path / "trace", [row for own in rows for row in own], **metadata_values)
    result = audit_folder(trace, backend)
    assert not result.violations
    assert Verdict.NOTHING_CHECKED not in result.rules.values()
    # With a watermark above 0.98 an insert may schedule a pass that does nothing, and no row tells when that ran.
    assert all(note.startswith(("L-TRIGGER-4", "L-TRIGGER-5")) for note in result.notes)


@pytest.mark.long
def test_engines_agree_on_changed_copies(tmp_path: Path, recorded: tuple[list[list[Row]], dict[str, Any]]) -> None:
    rows, metadata_values = recorded
    chance = random.Random("changed")
    copies: list[Row] = []
    for number, own in enumerate(rows * 4):
        copy = change_row(own, chance.choice(list_changes(own, NAME)), number)
        copies += rename_broker(own if copy is None else copy[0], f"{number:03}")
    trace = plant.write(tmp_path / "trace", copies, **metadata_values)
    by_sql, by_replay = (
        {(row.broker, row.rule, row.seq) for row in audit_folder(trace, backend).violations}
        for backend in ("local", "replay")
    )
    assert by_sql == by_replay
    assert len({broker for broker, _, _ in by_sql}) > len(rows)
