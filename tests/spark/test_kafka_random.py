"""All backends agree on random traces of `kafka-streams`, for any files and order of rows."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from entrycache_cli.commands.kafka_recording import play_fast_stores, play_stores
from entrycache_cli.commands.record import Player
from entrycache_conformance.generate import make_seeded_cases
from entrycache_conformance.systems import SYSTEMS
from entrycache_protocol.case import config_to_json
from entrycache_protocol.declaration import Declaration
from entrycache_reference.kafka_streams import NAME as STREAMS
from entrycache_spark.common.results import Verdict, merge_brokers
from entrycache_spark.common.rule_files import all_rules
from entrycache_spark.duckdb_backend import DuckDbBackend
from entrycache_spark.folders import audit_folder
from entrycache_spark.plan import evaluate_in_sql as evaluate_sql
from entrycache_spark.systems.kafka_streams import COLUMNS as STREAM_COLUMNS
from entrycache_trace.files import Metadata, iterate_rows, list_parts, read_metadata
from entrycache_trace.formats.kafka_streams import write_case_trace
from entrycache_trace.recording import CaseStep
from tests.spark.conftest import Evaluator
from tests.support.traces import mutate, plant
from tests.support.traces.comparison import by_broker, differences
from tests.support.traces.layout import split

TRACES = int(os.environ.get("ENTRYCACHE_TRACES", "8"))
FIRST = int(os.environ.get("ENTRYCACHE_SEED", "0"))
PRESET = "windowed-aggregation"

CHANGED = (
    *("bytes_after", "manager_bytes", "size_bytes", "life", "call_id", "ts_ns", "key_hash", "dirty"),
    *("op", "cause", "cache"),
)
"""The columns that are changed."""


CHANGED_OF_STORES = (
    *("life", "call_id", "key_hash", "dirty", "cause", "pass_id", "window_start", "window_end", "store_kind"),
    *("value_hash", "old_hash"),
)
"""The columns that are changed in traces of stores."""


def played_cases(folder: Path, cases: int, seed: int, play: Player = play_stores) -> list[list[plant.Row]]:
    """Return the rows of random cases of stores that the reference or the fast cache plays, a broker each."""
    system = SYSTEMS[STREAMS]
    menu = [name for name, op in system.ops.items() if op.level in ("store", "views", "windows")]
    traces = []
    generated = make_seeded_cases(Declaration(system, frozenset(system.ops)), menu, cases, seed)
    for number, (case, _) in enumerate(generated):
        played = zip(case.steps, play(case), strict=True)
        calls = [
            CaseStep(op, lambda outcome=outcome: system.wire.write_outcome(outcome), rows)
            for op, (outcome, rows) in played
        ]  # type: ignore[misc]
        out = folder / f"case-{number}"
        write_case_trace(out, Metadata(system=STREAMS), config_to_json(system, case.config), calls)
        traces.append(plant.renamed(iterate_rows(list_parts(out)), f"case {number}"))
    return traces


def random_traces(
    folder: Path, seeds: range, preset: str = PRESET, columns: tuple[str, ...] = CHANGED
) -> list[plant.Row]:
    """Return a broker for each seed: of five one has gaps and three are changed; of seven one is cut off."""
    rows: list[plant.Row] = []
    base: list[plant.Row] = []
    for seed in seeds:
        chance = random.Random(seed)
        if seed % 8 == 0 or not base:
            events = 1_500 + chance.randrange(2_000)
            (base,) = plant.honest(folder / f"base-{seed}", events, seed, preset=preset).values()
        own = plant.renamed(base, f"random {seed}")
        if seed % 5 == 1:
            mutate.gap(own, chance)
        elif seed % 5 > 1:
            mutate.mutate(own, chance, columns)
        if seed % 7 == 3:
            del own[-5:]
        rows += own
    return rows


@pytest.mark.long
def test_engines_agree_on_random_traces(tmp_path: Path, engines: Mapping[str, Evaluator]) -> None:
    rows = random_traces(tmp_path, range(FIRST, FIRST + TRACES))
    random.Random(FIRST).shuffle(rows)
    trace = plant.write(tmp_path / "trace", rows, system=STREAMS)
    results = {name: evaluate(trace) for name, evaluate in engines.items()}
    wanted = results["local"]
    assert len(by_broker(wanted.violations)) >= TRACES // 4
    for name, result in results.items():
        assert not differences(result, wanted), name
        assert result.rules == wanted.rules, name
    other = split(trace, tmp_path / "files", 3, FIRST)
    for threads in (1, 3):
        backend = DuckDbBackend(list_parts(other, STREAM_COLUMNS), threads, STREAM_COLUMNS)
        findings = merge_brokers(evaluate_sql(backend, read_metadata(other), all_rules(STREAMS)))
        backend.close()
        assert by_broker(tuple(row for item in findings.values() for row in item.violations)) == by_broker(
            wanted.violations
        )


@pytest.mark.parametrize(("seed", "cases"), [(1, 16), pytest.param(2, 200, marks=pytest.mark.long)])
def test_traces_of_played_stores_conform_and_engines_agree_on_changed_ones(
    tmp_path: Path, seed: int, cases: int, engines: Mapping[str, Evaluator]
) -> None:
    traces = played_cases(tmp_path, cases, seed)
    honest = plant.write(tmp_path / "honest", [row for own in traces for row in own], system=STREAMS)
    for name, evaluate in engines.items():
        verdicts = set(evaluate(honest).rules.values())
        assert verdicts <= {Verdict.CONFORMS, Verdict.NOTHING_CHECKED}, name
    for number, own in enumerate(traces):
        chance = random.Random(f"{seed} {number}")
        known = tuple(name for name in CHANGED_OF_STORES if any(row[name] is not None for row in own))
        if known:
            mutate.mutate(own, chance, known)
    changed = plant.write(tmp_path / "changed", [row for own in traces for row in own], system=STREAMS)
    results = {name: evaluate(changed) for name, evaluate in engines.items()}
    wanted = results["local"]
    assert wanted.violations
    for name, result in results.items():
        assert not differences(result, wanted), name
        assert result.rules == wanted.rules, name


STORED: Final = (
    *(
        "op",
        "cause",
        "cache",
        "key_hash",
        "window_start",
        "window_end",
        "value_hash",
        "old_hash",
        "store_kind",
        "value",
    ),
)


@pytest.mark.parametrize("cases", [12, pytest.param(200, marks=pytest.mark.long)])
def test_the_fast_cache_records_its_stores_as_the_reference_does(tmp_path: Path, cases: int) -> None:
    ops = ("PUT", "FLUSH", "STORE_OPEN", "STORE_CLOSE", "BELOW", "FORWARD", "VIEW", "VIEW_ENTRY")
    own, expected = (
        played_cases(tmp_path / name, cases, 3, play)
        for name, play in (("fast", play_fast_stores), ("own", play_stores))
    )
    for rows, wanted in zip(own, expected, strict=True):
        one, other = (
            Counter(tuple(row[name] for name in STORED) for row in side if row["op"] in ops) for side in (rows, wanted)
        )
        assert one == other
    trace = plant.write(tmp_path / "trace", [row for rows in own for row in rows], system=STREAMS)
    result = audit_folder(trace, "local")
    assert not result.violations
    assert result.rules["K-STORE-2"] is result.rules["K-STORE-4"] is Verdict.CONFORMS


@pytest.mark.long
def test_an_honest_trace_conforms_and_gaps_are_inconclusive(tmp_path: Path) -> None:
    rows = plant.honest(tmp_path / "honest", 6_000, 11, preset=PRESET)["thread-0"]
    for backend in ("local", "replay"):
        result = audit_folder(tmp_path / "honest", backend)
        assert set(result.rules.values()) <= {Verdict.CONFORMS, Verdict.NOTHING_CHECKED}
        assert result.rules["K-EVICT-1"] is result.rules["K-EVICT-3"] is Verdict.CONFORMS
    gapped: list[plant.Row] = []
    for seed in range(8):
        own = plant.renamed(rows, f"gapped {seed}")
        mutate.gap(own, random.Random(seed))
        gapped += own
    trace = plant.write(tmp_path / "gapped", gapped, system=STREAMS)
    for backend in ("local", "replay"):
        result = audit_folder(trace, backend)
        assert not result.violations
        assert set(result.rules.values()) == {Verdict.INCONCLUSIVE, Verdict.NOTHING_CHECKED}


@pytest.mark.parametrize("backend", ["local", pytest.param("sql", marks=pytest.mark.long)])
def test_a_wrong_size_in_an_honest_trace_is_named(tmp_path: Path, backend: str, spark_session: object) -> None:
    rows = plant.honest(tmp_path / "honest", 3_000, 4, preset=PRESET)["thread-0"]
    result = audit_folder(tmp_path / "honest", backend)
    assert set(result.rules.values()) <= {Verdict.CONFORMS, Verdict.NOTHING_CHECKED}
    hit = next(row for row in rows if row["op"] == "HIT")
    hit["size_bytes"] += 1
    trace = plant.write(tmp_path / "wrong", rows, system=STREAMS)
    wrong = audit_folder(trace, backend)
    assert [(row.rule, row.seq) for row in wrong.violations] == [("K-SIZE-1", hit["seq"])]
