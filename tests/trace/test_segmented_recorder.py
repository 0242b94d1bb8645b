"""The recorder of `pulsar-segmented` records our caches, including faults and the variants of the branch."""

from __future__ import annotations

import json
import random
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from entrycache_cli.commands.record import record
from entrycache_conformance.generate import make_case
from entrycache_conformance.resolve import SubjectChoice, resolve_subject
from entrycache_conformance.systems import SYSTEMS
from entrycache_conformance.systems.pulsar_segmented.generation import WorkloadProfile
from entrycache_fast.segmented import Segment, SegmentedCache
from entrycache_faults.fast.pulsar_segmented import FAULTS
from entrycache_faults.model import Fault
from entrycache_faults.reference.pulsar_segmented.ring import SUBJECTS
from entrycache_protocol.case import config_to_json, read_case
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.errors import UsageError
from entrycache_reference.pulsar_segmented import NAME as SEGMENTED
from entrycache_spark.common.system import AUDITED
from entrycache_spark.folders import audit_folder
from entrycache_trace.files import Metadata, PartWriter, iterate_rows, list_parts, write_metadata
from entrycache_trace.generators.generate import generate
from entrycache_trace.generators.pulsar_segmented import SegmentedBroker
from entrycache_trace.recording import CaseStep

CASE: dict[str, Any] = {
    "system": SEGMENTED,
    "config": {"max_size_bytes": 768, "segments": 3, "mode": "copy"},
    "steps": [
        {"op": "insert", "cache": "a", "pos": [1, 0], "size": 65, "token": 7},
        {"op": "insert", "cache": "a", "pos": [1, 1], "size": 100},
        {"op": "insert", "cache": "a", "pos": [1, 1], "size": 10},
        {"op": "insert", "cache": "a", "pos": [1, 2], "size": 257},
        {"op": "insert", "cache": "b", "pos": [1, 2], "size": -1},
        *({"op": "insert", "cache": "b", "pos": [1, entry], "size": 250} for entry in (2, 3)),
        {"op": "get_range", "cache": "a", "first": [1, 0], "last": [1, 1]},
        {"op": "get_range", "cache": "a", "first": [1, 0], "last": [2, 1]},
        {"op": "insert", "cache": "b", "pos": [1, 4], "size": 250},
        {"op": "get", "cache": "a", "pos": [1, 0]},
        {"op": "get", "cache": "b", "pos": [1, 4]},
        {"op": "usage"},
        {"op": "observe"},
    ],
}

BROKEN_RULES = {
    "segmented-clears-the-full-one": "S-RING-4",
    "segmented-duplicate-overwrites": "S-INSERT-2",
    "segmented-duplicate-turns": "S-INSERT-2",
    "segmented-full-advances": "S-SEGMENT-4",
    "segmented-index-kept": "S-RING-2",
    "segmented-offset-kept": "S-RING-3",
    "segmented-read-is-newest": "S-STATE-2",
    "segmented-references-aligned": "S-SEGMENT-3",
    "segmented-too-long-is-taken": "S-INSERT-3",
    "segmented-usage-keeps-growing": "S-USAGE-1",
}
"""Seeded faults, each with a rule that its trace breaks. Faults of lookups change answers only."""

BRANCH_VARIANTS = {
    "duplicate": ("overwritten", "S-INSERT-2"),
    "failed_offer": ("counted", "S-SEGMENT-4"),
    "cleared_offset": ("kept", "S-RING-1"),
    "cleared_index": ("kept", "S-RING-2"),
    "used": ("offsets", "S-USAGE-1"),
}
"""The variants of the branch, each with the rule that it breaks in the case."""


def record_trace(folder: Path, case: dict[str, Any], subject: str) -> Path:
    (folder / f"{subject}.json").write_text(json.dumps(case), encoding="utf-8")
    resolved = resolve_subject(SubjectChoice(subject, system=SEGMENTED))
    assert record(resolved, read_case(folder / f"{subject}.json", SYSTEMS), folder / subject).failure is None
    resolved.close()
    return folder / subject


def test_both_caches_record_a_case_in_the_same_way(tmp_path: Path) -> None:
    traces = [record_trace(tmp_path, CASE, subject) for subject in ("reference", "fast")]
    rows, others = [list(iterate_rows(list_parts(trace))) for trace in traces]
    assert rows == others
    numbers = [(row["op"], row["life"], row["bound"], row["tail_no"], row["ticket"], row["call_id"]) for row in rows]
    assert [row[:5] for row in numbers if row[-1] == numbers[17][-1]] == [
        ("PASS_BEGIN", None, 256, 3, 0),
        ("EVICT", 1, 0, None, 0),
        ("EVICT", 2, 128, None, 0),
        ("PASS_END", None, None, 3, 0),
        ("INSERT", 21, 0, 3, None),
    ]
    assert [row["key_hash"] for row in rows if row["op"] == "HIT"] == [7, None, None]
    assert json.loads(rows[-1]["value"]) == {"entries": 3, "bytes": 750, "slots": 3}
    for backend in ("local", "replay"):
        result = audit_folder(traces[1], backend)
        assert not result.violations
        assert result.exit_code == 0


@pytest.mark.parametrize("variant", BRANCH_VARIANTS)
def test_the_variants_of_the_branch_break_rules(tmp_path: Path, variant: str) -> None:
    value, rule = BRANCH_VARIANTS[variant]
    steps = [*CASE["steps"], *({"op": "insert", "cache": "c", "pos": [1, at], "size": 256} for at in range(4))]
    case = {**CASE, "variants": {variant: value}, "steps": steps}
    trace = record_trace(tmp_path, case, "reference")
    for backend in ("local", "replay"):
        assert rule in {violation.rule for violation in audit_folder(trace, backend).violations}


class ClearsTheFullOne(SegmentedCache):
    """A turn also drops the entries of the segment that was full, and reports that."""

    def _turn(self, size_bytes: int) -> Segment:
        full = self.ring[self.current]
        offset = full.offset
        self._clear(full)
        full.offset = offset
        return super()._turn(size_bytes)


class ReadIsNewest(SegmentedCache):
    """An entry that is read becomes the newest of its segment, and leaves last."""

    def get(self, cache: str, ledger: int, entry: int, default: Any = None) -> Any:
        """Move the entry to the end."""
        key = (cache, ledger, entry)
        if key in self.where:
            entries = self.where[key].entries
            entries[key] = entries.pop(key)
        return super().get(cache, ledger, entry, default)


WRONG_CACHES = {"segmented-clears-the-full-one": ClearsTheFullOne, "segmented-read-is-newest": ReadIsNewest}
"""Caches whose rows show when and in which order entries leave; the rows of a faulty reference do not show this."""


def record_faulty_reference(folder: Path, fault: Fault) -> None:
    """Write the trace of a random case as a reference with a seeded fault performs it."""
    system = SYSTEMS[SEGMENTED]
    declaration = Declaration(system, frozenset(system.ops), payload=True)
    menu = system.cases.menu(system.ops)
    case = make_case(random.Random(4).randint, declaration, menu, None, 600, workload=WorkloadProfile.TURNS).case
    state, steps = fault.model.initial(case.config), []
    for op in case.steps:
        done = fault.model.step(state, op, case.config)
        state = done.state
        steps.append(CaseStep(op, partial(system.wire.write_outcome, done.outcome), done.rows))
    AUDITED[SEGMENTED].write(folder, Metadata(system=SEGMENTED), config_to_json(system, case.config), steps)


@pytest.mark.parametrize("fault", BROKEN_RULES)
def test_a_fault_breaks_its_rule_in_a_trace(tmp_path: Path, fault: str) -> None:
    caches = {**FAULTS, **WRONG_CACHES}
    if fault in caches:
        write_metadata(tmp_path, Metadata(system=SEGMENTED))
        SegmentedBroker(PartWriter(tmp_path, "broker"), "reference", "1", caches[fault]).run(1_000, lambda count: None)
    else:
        record_faulty_reference(tmp_path, SUBJECTS[fault])
    results = [audit_folder(tmp_path, backend) for backend in ("local", "replay")]
    violations = [{(row.rule, row.seq) for row in result.violations} for result in results]
    assert violations[0] == violations[1]
    assert BROKEN_RULES[fault] in {rule for rule, _ in violations[0]}


def test_the_same_seed_gives_the_same_trace(tmp_path: Path) -> None:
    for name in ("one", "other"):
        generate("ring-copies", 2_000, 7, tmp_path / name, 2)
    parts = [list_parts(tmp_path / name) for name in ("one", "other")]
    assert [part.broker for part in parts[0]] == ["broker-0", "broker-1"]
    assert [part.path.read_bytes() for part in parts[0]] == [part.path.read_bytes() for part in parts[1]]
    with pytest.raises(UsageError, match=SEGMENTED):
        generate("ring-copies", 10, 7, tmp_path / "settings", settings={"segments": 1})
