"""A value that a recorder does not know, and an event that is missing, accuse nobody: in every system and backend."""

from __future__ import annotations

import random
from bisect import bisect_left
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

from entrycache_spark.common.results import AuditResult, Verdict
from entrycache_spark.common.unknown_values import ops_of, words_read
from entrycache_spark.folders import audit_folder
from entrycache_trace.files import iterate_rows, list_parts
from tests.support import ROOT
from tests.support.traces import plant
from tests.support.traces.checker_runs import audit_by_checker
from tests.support.traces.levels import record_level, record_stores
from tests.support.traces.scenarios.scenario import at
from tests.support.traces.script import Script

BACKENDS: Final[dict[str, Callable[[Path], AuditResult]]] = {
    "local": lambda path: audit_folder(path, "local"),
    "checker": audit_by_checker,
    "replay": lambda path: audit_folder(path, "replay"),
}
PRESETS: Final = {
    "pulsar-pip430": "tail-fanout",
    "kafka-streams": "windowed-aggregation",
    "pulsar-legacy": "unequal-topics",
    "pulsar-segmented": "ring-copies",
}
KNOWN: Final = {"broker", "seq", "ts_ns", "op", "bytes_after", "cache"}
"""Columns that every row has, and `cache`, without which a trace is refused."""
MEANS_NOTHING: Final = {("INSERT", "expected_reads"), ("PERMIT", "ticket")}
"""Values whose null says something if other rows of the op have one: there is no count, or the request did not wait."""


def without(rows: list[plant.Row], at: plant.Row, column: str) -> list[plant.Row]:
    """Return the rows, of which one does not record a value."""
    return [{**row, column: None} if row is at else row for row in rows]


def alterations(rows: list[plant.Row]) -> Iterator[tuple[str, list[plant.Row]]]:
    """Yield the trace of the same events by recorders that know less, each with its name."""
    chance = random.Random(5)
    for name in sorted({name for row in rows for name in row if row[name] is not None} - KNOWN):
        rest = {(row["op"], name) for row in rows} & MEANS_NOTHING
        yield f"never-{name}", [{**row, name: None} for row in rows]
        yield (
            f"often-{name}",
            [{**row, name: None} if (row["op"], name) not in rest and chance.random() < 0.2 else row for row in rows],
        )
    for op in sorted({row["op"] for row in rows}):
        yield f"without-{op}", [row for row in rows if row["op"] != op]
    for op, name in recorded_values(rows):
        yield f"never-{op}-{name}", [{**row, name: None} if row["op"] == op else row for row in rows]
        if (op, name) not in MEANS_NOTHING:
            (one,) = chance.sample([row for row in rows if row["op"] == op and row[name] is not None], 1)
            yield f"once-{op}-{name}", without(rows, one, name)
    for number in range(60):
        row = chance.choice(rows)
        yield f"row-{number}-{row['op']}", [other for other in rows if other is not row]
        some = set(chance.sample(recorded_values(rows), chance.randrange(2, 7)))
        yield (
            f"some-{number}-{' '.join('.'.join(value) for value in sorted(some))}",
            [{**row, **{name: None for op, name in some if op == row["op"]}} for row in rows],
        )


def recorded_values(rows: list[plant.Row]) -> list[tuple[str, str]]:
    """Return each op with each column that some of its rows have and that may be null."""
    return sorted({(row["op"], name) for row in rows for name in row if row[name] is not None and name not in KNOWN})


@pytest.mark.long
@pytest.mark.parametrize(
    "backend",
    ["local", pytest.param("replay", marks=pytest.mark.long), pytest.param("checker", marks=pytest.mark.long)],
)
@pytest.mark.parametrize("system", PRESETS)
def test_what_a_recorder_does_not_know_accuses_nobody(tmp_path: Path, system: str, backend: str) -> None:
    rows = next(iter(plant.honest(tmp_path / "honest", 600, 4, preset=PRESETS[system]).values()))
    altered = [row for name, own in alterations(rows) for row in plant.renamed(own, name)]
    result = BACKENDS[backend](plant.write(tmp_path / "trace", altered, system=system, threads="one", clock="virtual"))
    assert sorted({(one.broker, one.rule) for one in result.violations}) == []


READ_VALUES: Final = {
    "pulsar-pip430": (
        ("HIT", "life", "R-READ-1"),
        ("EVICT", "size_bytes", "R-STATE-2"),
        ("REQUEUE", "pass_id", "R-REQUEUE-3"),
        ("INSERT", "ledger_id", "R-INSERT-1"),
    ),
    "kafka-streams": (("HIT", "life", "K-GET-2"), ("PUT", "dirty", "K-EVICT-4"), ("PUT", "key_hash", "K-FLUSH-3")),
    "pulsar-legacy": (("PASS_END", "pass_id", "L-EVICT-3"), ("INSERT", "ledger_id", "L-READ-5")),
    "pulsar-segmented": (
        ("ASK", "ledger_id", "S-RANGE-1"),
        ("HIT", "life", "S-RANGE-2"),
        ("SKIP", "size_bytes", "S-RING-1"),
        ("PASS_BEGIN", "bound", "S-SEGMENT-4"),
        ("SNAPSHOT", "ledger_id", "S-STATE-2"),
    ),
}
"""Values that an event needs, each with a rule that reads it."""


@pytest.mark.parametrize("backend", ["local", "replay", pytest.param("checker", marks=pytest.mark.long)])
@pytest.mark.parametrize("system", PRESETS)
def test_a_rule_is_not_clean_without_a_value_that_it_reads(tmp_path: Path, system: str, backend: str) -> None:
    rows = next(iter(plant.honest(tmp_path / "honest", 600, 4, preset=PRESETS[system]).values()))
    altered = plant.renamed(rows, "whole")
    for op, name, _ in READ_VALUES[system]:
        altered += plant.renamed([{**row, name: None} if row["op"] == op else row for row in rows], f"{op} {name}")
    result = BACKENDS[backend](plant.write(tmp_path / "trace", altered, system=system, threads="one", clock="virtual"))
    for op, name, rule in READ_VALUES[system]:
        verdict = result.brokers[f"{op} {name}"][rule]
        assert result.brokers["whole"][rule] is Verdict.CONFORMS, rule
        assert verdict in {Verdict.INCONCLUSIVE, Verdict.NOTHING_CHECKED}, (op, name, rule, verdict)
        assert any(f"{op} {name}" in note and rule in note for note in result.notes), (op, name, rule, result.notes)


CASES: Final = {"limits": "b1", "ledger": "b8", "cursors": "b2", "stores": "b5"}
"""For each level, and for stores, the random case whose rows are of most kinds."""


def record_case(folder: Path, level: str) -> list[plant.Row]:
    """Return the rows of a random case at a level of pulsar-pip430, or of stores of kafka-streams."""
    record, name = (record_stores, "windows") if level == "stores" else (record_level, level)
    record(folder / level, name, 9)
    return [row for row in iterate_rows(list_parts(folder / level)) if row["broker"] == CASES[level]]


def system_of(level: str) -> str:
    return "kafka-streams" if level == "stores" else "pulsar-pip430"


@pytest.mark.long
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("level", CASES)
def test_what_a_recorder_of_reads_and_stores_does_not_know_accuses_nobody(
    tmp_path: Path, level: str, backend: str
) -> None:
    rows = record_case(tmp_path, level)
    altered = [row for name, own in alterations(rows) for row in plant.renamed(own, name)]
    for end in (len(rows) // 10, len(rows) // 2):
        altered += plant.renamed(rows[end:], f"from {end}") + plant.renamed(rows[:end], f"until {end}")
    trace = plant.write(tmp_path / "trace", altered, system=system_of(level), threads="one", clock="virtual")
    assert sorted({(one.broker, one.rule) for one in BACKENDS[backend](trace).violations}) == []


def recorded_less(rows: list[plant.Row], names: tuple[str, ...]) -> Iterator[tuple[str, list[plant.Row]]]:
    """Yield the trace without these columns, without its beginning and settings, and with half a position."""
    yield "whole", rows
    for name in names:
        yield f"no {name}", [{**row, name: None} for row in rows]
    for op, name in (*MEANS_NOTHING, *random.Random(3).sample(recorded_values(rows), 20)):
        yield f"no {name} of {op}", [{**row, name: None} if row["op"] == op else row for row in rows]
    yield "begins late", rows[len(rows) // 10 :]
    yield "no settings", [{**row, "value": None} if row["op"] == "CONFIG" else row for row in rows]
    for row in [row for row in rows if row["op"] in ("CURSOR_ADD", "CURSOR_MOVE") and row["entry_id"] is not None][:6]:
        for name in ("ledger_id", "entry_id"):
            yield f"{row['seq']} has no {name}", without(rows, row, name)


@pytest.mark.parametrize("backend", ["local", "replay"])
@pytest.mark.parametrize(
    ("level", "names"),
    [
        ("limits", ("cause", "tail_no", "size_bytes")),
        ("cursors", ("cause", "expected_reads")),
        ("stores", ("cause", "call_id")),
    ],
)
def test_a_recorder_of_reads_and_stores_that_records_less_accuses_nobody(
    tmp_path: Path, level: str, names: tuple[str, ...], backend: str
) -> None:
    rows = record_case(tmp_path, level)
    altered = [row for name, own in recorded_less(rows, names) for row in plant.renamed(own, name)]
    trace = plant.write(tmp_path / "trace", altered, system=system_of(level), threads="one", clock="virtual")
    assert sorted({(one.broker, one.rule) for one in BACKENDS[backend](trace).violations}) == []


@pytest.mark.long
@pytest.mark.parametrize("backend", ["local", "replay", pytest.param("checker", marks=pytest.mark.long)])
def test_a_recorder_without_causes_or_origins_accuses_no_counter_and_no_trigger(tmp_path: Path, backend: str) -> None:
    script = Script("a", max_size_bytes=100)
    for entry in range(12):
        script.offer(at(entry))
    script.call().get(at(11))
    script.call().read([at(10), at(20)], 0)
    script.call().size_pass(10)
    script.call().metrics()
    honest = script.finish()
    assert {("PASS_BEGIN", "TRIGGER"), ("PASS_BEGIN", "CALL")} <= {(row["op"], row["origin"]) for row in honest}
    rows = [
        row
        for name in ("cause", "origin")
        for row in plant.renamed([{**row, name: None} for row in honest], f"no {name}")
    ]
    result = BACKENDS[backend](plant.write(tmp_path / "trace", rows, threads="one", clock="virtual"))
    assert sorted({(one.broker, one.rule) for one in result.violations}) == []
    whole = BACKENDS[backend](plant.write(tmp_path / "whole", honest, threads="one", clock="virtual"))
    assert {whole.rules[rule].value for rule in ("R-METRICS-5", "R-METRICS-6", "R-TRIGGER-2")} == {"conforms"}


NUMBERS: Final = ("life", "pass_id", "call_id")
"""Columns that hold the `seq` of another row."""
BEGINS_A_LIFE: Final = {"INSERT", "PUT"}


def numbered_on(rows: list[plant.Row], op: str) -> list[plant.Row]:
    """Return the rows of a recorder that does not know this op: it numbers the other rows without a gap."""
    kept = [row for row in rows if row["op"] != op]
    seqs = [row["seq"] for row in kept]

    def renumber(name: str, value: int | None) -> int | None:
        if name == "life" and op in BEGINS_A_LIFE:
            return None
        return value if value is None or value < 0 else bisect_left(seqs, value)

    return [
        {**row, "seq": at, **{name: renumber(name, row[name]) for name in NUMBERS if name in row}}
        for at, row in enumerate(kept)
    ]


def silent(rows: list[plant.Row]) -> list[plant.Row]:
    """Return a broker for each op, named for it, whose recorder does not know the op."""
    ops = sorted({row["op"] for row in rows})
    return [row for op in ops for row in plant.renamed(numbered_on(rows, op), op)]


@pytest.mark.long
@pytest.mark.parametrize("backend", ["local", pytest.param("replay", marks=pytest.mark.long)])
@pytest.mark.parametrize("system", PRESETS)
def test_a_recorder_that_says_that_rows_are_missing_accuses_nobody(tmp_path: Path, system: str, backend: str) -> None:
    rows = silent(next(iter(plant.honest(tmp_path / "honest", 600, 4, preset=PRESETS[system]).values())))
    says = {"system": system, "threads": "one", "clock": "virtual", "sampling": "one op is missing"}
    result = BACKENDS[backend](plant.write(tmp_path / "trace", rows, **says))
    assert sorted({(one.broker, one.rule) for one in result.violations}) == []
    assert set(result.rules.values()) <= {Verdict.INCONCLUSIVE, Verdict.NOTHING_CHECKED}


@pytest.mark.long
@pytest.mark.parametrize("system", PRESETS)
def test_the_page_names_the_rules_that_need_the_rows_of_an_op(tmp_path: Path, system: str) -> None:
    """If the recorder does not say that rows are missing, they break these rules, or rules about bytes."""
    rows = silent(next(iter(plant.honest(tmp_path / "honest", 600, 4, preset=PRESETS[system]).values())))
    result = BACKENDS["local"](plant.write(tmp_path / "trace", rows, system=system, threads="one", clock="virtual"))
    accused = {(one.broker, one.rule) for one in result.violations}
    assert accused or system == "kafka-streams"
    assert {
        (op, rule)
        for op, rule in accused
        if op not in ops_of(rule, system) and "bytes_after" not in words_read(rule, system)
    } == set()
    page = (ROOT / "docs/reference/trace-format.md").read_text("utf-8").split(f"\n## {system}\n")[1].split("\n## ")[0]
    table = {row.split(" | ")[0]: row for row in page.split("An audit of these rules reads")[1].split("\n| ")}
    assert all(rule in table[op] for op, rule in accused if op in ops_of(rule, system))


@pytest.mark.parametrize("backend", ["local", "replay"])
def test_a_violation_stands_where_its_rule_knows_all_that_it_reads(tmp_path: Path, backend: str) -> None:
    """Without a sum of bytes the sizes are unknown, and still the settings on the rows of a pass are wrong."""
    rows = next(iter(plant.honest(tmp_path / "honest", 600, 4).values()))
    (wrong, *_) = [row for row in rows if row["op"] == "REQUEUE"]
    altered = [{**row, "max_requeues": 99} if row is wrong else row for row in rows]
    (unsized, *_) = [row for row in altered if row["op"] == "INSERT"]
    altered = [{**row, "size_bytes": None} if row is unsized else row for row in altered]
    result = BACKENDS[backend](plant.write(tmp_path / "trace", altered, threads="one", clock="virtual"))
    assert "R-CONFIG-1" in {one.rule for one in result.violations}


@pytest.mark.parametrize("backend", ["local", "replay"])
def test_a_withdrawn_violation_is_named_in_a_note(tmp_path: Path, backend: str) -> None:
    rows = next(iter(plant.honest(tmp_path / "honest", 600, 4).values()))
    altered = [{**row, "life": None if row["seq"] % 5 == 0 else row["life"]} for row in rows]
    result = BACKENDS[backend](plant.write(tmp_path / "trace", altered, threads="one", clock="virtual"))
    assert not result.violations
    assert Verdict.INCONCLUSIVE in set(result.rules.values())
    notes = [note for note in result.notes if "rows have no life, so" in note]
    assert notes and all(note.endswith("differences prove nothing") for note in notes)


CHANGES: Final = {
    "pulsar-pip430": ("R-COUNT-3", "REQUEUE", "expected_reads"),
    "pulsar-legacy": ("L-READ-1", "HIT", "life"),
    "pulsar-segmented": ("S-GET-1", "HIT", "life"),
    "kafka-streams": ("K-GET-1", "HIT", "life"),
}
"""For each system a rule about one entry, and a value that violates it where it is changed."""


def accused(trace: Path, backend: str, rule: str) -> list[int]:
    return sorted(one.seq for one in BACKENDS[backend](trace).violations if one.rule == rule)


@pytest.mark.long
@pytest.mark.parametrize("backend", ["local", "replay"])
@pytest.mark.parametrize("system", PRESETS)
def test_only_what_the_unknown_value_can_explain_is_withdrawn(tmp_path: Path, system: str, backend: str) -> None:
    """A violation stands if the row without a value is later or about another entry; else it proves nothing."""
    rule, op, column = CHANGES[system]
    rows = next(iter(plant.honest(tmp_path / "honest", 1_500, 4, preset=PRESETS[system]).values()))
    entry = ("cache", "key_hash" if system == "kafka-streams" else "entry_id", "ledger_id")
    place = {row["seq"]: tuple(row[name] for name in entry) for row in rows}
    wrong = [row for row in rows if row["op"] == op and row[column] is not None][20]
    altered = [{**row, column: row[column] + 1_000} if row is wrong else row for row in rows]
    begins = [row for row in altered if row["op"] in BEGINS_A_LIFE]
    own = [row for row in begins if place[row["seq"]] == place[wrong["seq"]] and row["seq"] < wrong["seq"]][-1]
    later = next(row for row in begins if row["seq"] > wrong["seq"])
    other = next(row for row in begins if place[row["seq"]] != place[wrong["seq"]])
    said = {
        name: accused(plant.write(tmp_path / name, without(altered, row, "life"), system=system), backend, rule)
        for name, row in (("later", later), ("other", other), ("own", own))
    }
    assert wrong["seq"] in said["later"] and wrong["seq"] in said["other"]
    assert wrong["seq"] not in said["own"]


@pytest.mark.long
@pytest.mark.parametrize("backend", ["local", "replay"])
@pytest.mark.parametrize("make", [plant.wrong_order, plant.wrong_sum, plant.drifting_sum, plant.hit_after_removal])
def test_rules_with_joins_or_groups_lose_no_violation_by_a_later_row(
    tmp_path: Path, make: plant.Plant, backend: str
) -> None:
    rows = next(iter(plant.honest(tmp_path / "honest", 1_500, 4).values()))
    expected = plant.seed_violation(make, rows, 4)
    last = max(seq for _, seq in expected)
    later = [row for row in rows if row["seq"] > last + 3]
    columns = (("INSERT", "life"), ("EVICT", "life"), ("INSERT", "size_bytes"), ("HIT", "life"))
    lacking = [(row, name) for op, name in columns for row in [row for row in later if row["op"] == op][-1:]]
    assert lacking
    brokers = {f"{row['op']}-{name}": without(rows, row, name) for row, name in lacking}
    altered = [row for broker, own in brokers.items() for row in plant.renamed(own, broker)]
    result = BACKENDS[backend](plant.write(tmp_path / "trace", altered, threads="one", clock="virtual"))
    violations = {(one.broker, one.rule, one.seq) for one in result.violations}
    judged = [own for own in expected if own[0] in {"R-EVICT-8", "R-STATE-1", "R-STATE-8"}]
    assert [(broker, *own) for broker in brokers for own in judged if (broker, *own) not in violations] == []


@pytest.mark.long
@pytest.mark.parametrize("backend", ["local", "replay"])
def test_a_hole_in_a_range_stands_if_a_row_of_another_cache_or_call_lacks_a_value(tmp_path: Path, backend: str) -> None:
    def hole(lacking: str) -> list[int]:
        script = Script("a")
        for entry in range(3):
            script.offer(at(entry))
        script.offer(at(1, cache="b"))
        script.call()
        script.remove("RANGE", at(0), at(2))
        script.call().remove("CLEAR", at(1))
        script.call().remove("CLEAR", at(1, cache="b"))
        rows = script.finish()
        row = {
            "another cache": next(row for row in rows if row["cache"] == "b"),
            "a later call": [row for row in rows if row["cache"] == "a"][-1],
            "its own": next(row for row in rows if row["op"] == "INSERT" and row["entry_id"] == 1),
        }[lacking]
        path = plant.write(tmp_path / lacking, without(rows, row, "life"), threads="one", clock="virtual")
        return accused(path, backend, "R-INVALIDATE-1")

    assert hole("another cache") and hole("a later call") and not hole("its own")


@pytest.mark.parametrize("backend", ["local", "replay"])
def test_a_row_outside_its_pass_stands_if_an_entry_is_unknown(tmp_path: Path, backend: str) -> None:
    """R-STATE-4 reads passes and their rows, not lives."""
    rows = next(iter(plant.honest(tmp_path / "honest", 1_500, 4).values()))
    wrong = [row for row in rows if row["op"] == "EVICT"][-1]
    altered = [{**row, "pass_id": row["pass_id"] + 1} if row is wrong else row for row in rows]
    read = next(row for row in altered if row["op"] == "READ_DONE")
    path = plant.write(tmp_path / "trace", without(altered, read, "life"), threads="one", clock="virtual")
    assert wrong["seq"] in accused(path, backend, "R-STATE-4")


UNCOMPARED: Final = {
    "pulsar-pip430": {"R-STATE-1", "R-STATE-2"},
    "pulsar-legacy": {"L-STATE-1", "L-STATE-4"},
    "pulsar-segmented": {"S-STATE-2"},
    "kafka-streams": {"K-METRICS-1"},
}
"""For each system the rules that compare the totals of END. S-USAGE-1 compares those of METRICS too."""


@pytest.mark.long
@pytest.mark.parametrize("backend", ["local", "replay"])
@pytest.mark.parametrize("system", PRESETS)
def test_no_rule_is_clean_if_the_totals_that_it_compares_are_missing(tmp_path: Path, system: str, backend: str) -> None:
    rows = next(iter(plant.honest(tmp_path / "honest", 600, 4, preset=PRESETS[system]).values()))
    for name, value in (("null", None), ("empty", "{}")):
        altered = [{**row, "value": value} if row["op"] == "END" else row for row in rows]
        result = BACKENDS[backend](plant.write(tmp_path / name, altered, system=system, clock="virtual", threads="one"))
        undecided = {rule for rule, verdict in result.rules.items() if verdict is Verdict.INCONCLUSIVE}
        assert undecided == UNCOMPARED[system]
        assert all(any(rule in note and "value." in note for note in result.notes) for rule in undecided)


@pytest.mark.parametrize("backend", ["local", "replay"])
def test_no_rule_about_counters_is_clean_without_them(tmp_path: Path, backend: str) -> None:
    rows = next(iter(plant.honest(tmp_path / "honest", 600, 4, preset=PRESETS["kafka-streams"]).values()))
    counters = [{**rows[-1], "op": "METRICS", "cache": cache, "value": "{}"} for cache in (None, rows[1]["cache"])]
    altered = [*rows[:-1], *counters, rows[-1]]
    altered = [{**row, "seq": at, "call_id": at} if at >= len(rows) - 1 else row for at, row in enumerate(altered)]
    result = BACKENDS[backend](plant.write(tmp_path / "trace", altered, system="kafka-streams"))
    assert result.rules["K-METRICS-2"] is result.rules["K-METRICS-3"] is Verdict.INCONCLUSIVE
