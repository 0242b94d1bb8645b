"""Recorded traces in which one row was altered: each backend names the rule that the altered row breaks.

The trace of Kafka Streams is recorded from a topology that one thread drives. Reads of managed ledgers are those of
random cases of the reference, and those of a real broker. Each altered copy of a trace is a broker of one folder, so a
backend judges all copies at once; a copy without a change is the negative control.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pytest

from entrycache_cli.commands.pulsar_recording import record_broker
from entrycache_conformance.brokers.jars import build_recorder_jar
from entrycache_conformance.brokers.pulsar import BROKER_PLANS
from entrycache_conformance.java.driver import java_test_classpath
from entrycache_conformance.java.program import compile_sources
from entrycache_protocol.errors import MissingPrerequisite
from entrycache_reference.pulsar_pip430 import NAME as PULSAR
from entrycache_spark.common.results import AuditResult, Verdict
from entrycache_spark.common.rule_files import all_rules
from entrycache_spark.folders import audit_folder
from entrycache_spark.systems.kafka_streams import RULES_OF_STORES
from entrycache_trace.convert import convert_recording
from entrycache_trace.files import iterate_rows, list_parts, read_metadata, write_rows
from tests.support.traces import plant
from tests.support.traces.checker_runs import compare_with_windows
from tests.support.traces.levels import record_level, record_stores

Row = dict[str, Any]
Alter = Callable[[list[Row]], None]

UNALTERED = "unaltered"
RECORDS = 24
TWO_DAYS = timedelta(days=2) // timedelta(milliseconds=1)


@pytest.fixture(scope="module")
def streams(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the trace of a driven topology with key-value, window and session stores."""
    folder = tmp_path_factory.mktemp("streams")
    (folder / "classes").mkdir()
    source = Path(__file__).parents[1] / "jvm" / "StoresSample.java"
    program = compile_sources([source], java_test_classpath("kafka-streams:4.3.1"), folder / "classes")
    agent = f"-javaagent:{build_recorder_jar()}={folder / 'lines'},quiet=0"
    done = program.run("entrycache.recorder.StoresSample", RECORDS, options=[agent])
    assert done.returncode == 0, done.stderr
    convert_recording(folder / "lines", folder / "trace")
    return folder / "trace"


def rows_of(trace: Path) -> list[Row]:
    return list(iterate_rows(list_parts(trace)))


def pick(rows: list[Row], accept: Callable[[Row], object]) -> Row:
    """Return a row in the middle of those that fit."""
    fit = [row for row in rows if accept(row)]
    return fit[len(fit) // 2]


def entries_of_views(rows: list[Row], windows: bool) -> Iterator[tuple[Row, Row]]:
    """Yield neighbours in the ascending views of key-value stores, or of windows and sessions."""
    fit = [row for row in rows if row["op"] == "VIEW_ENTRY" and row["cause"] == "FORWARD"]
    for before, row in pairwise(fit):
        if row["pass_id"] == before["pass_id"] and (row["window_start"] is not None) is windows:
            yield before, row


def lose_a_write(rows: list[Row]) -> None:
    pick(rows, lambda row: row["op"] == "BELOW" and row["cause"] == "PUT")["life"] -= 1


def lose_a_forward(rows: list[Row]) -> None:
    pick(rows, lambda row: row["op"] == "FORWARD")["life"] -= 1


def forward_another_old_value(rows: list[Row]) -> None:
    pick(rows, lambda row: row["op"] == "FORWARD" and row["old_hash"] is not None)["old_hash"] += 1


def use_a_closed_store(rows: list[Row]) -> None:
    row = next(row for row in rows if row["op"] == "HIT" and row["cache"].endswith("own-windows"))
    row.update(op="STORE_CLOSE", cause=None, key_hash=None, life=None, size_bytes=None, dirty=None, window_start=None)


def view_keys_out_of_order(rows: list[Row]) -> None:
    next(entries_of_views(rows, windows=False))[1]["value"] = '""'


def view_windows_out_of_order(rows: list[Row]) -> None:
    row = next(entries_of_views(rows, windows=True))[1]
    row.update(window_start=0, window_end=None if row["window_end"] is None else 0)


def view_a_window_twice(rows: list[Row]) -> None:
    before, row = next(entries_of_views(rows, windows=True))
    row["key_hash"] = before["key_hash"]


def write_an_expired_window(rows: list[Row]) -> None:
    row = pick(rows, lambda row: row["op"] == "BELOW" and row["window_start"] is not None)
    row["window_start"] -= TWO_DAYS
    if row["window_end"] is not None:
        row["window_end"] -= TWO_DAYS


OF_STREAMS: dict[str, Alter] = {
    "K-STORE-2": lose_a_write,
    "K-STORE-4": lose_a_forward,
    "K-OLD-2": forward_another_old_value,
    "K-CLOSE-3": use_a_closed_store,
    "K-VIEW-1": view_keys_out_of_order,
    "K-WINDOW-1": view_windows_out_of_order,
    "K-WINDOW-2": view_a_window_twice,
    "K-WINDOW-6": write_an_expired_window,
}


def write_copies(out: Path, trace: Path, changes: dict[str, Alter]) -> Path:
    """Write a trace with a broker for each change, named for the rule that it breaks, and one without a change."""
    copies = plant.renamed(rows_of(trace), UNALTERED)
    for rule, alter in changes.items():
        rows = plant.renamed(rows_of(trace), rule)
        alter(rows)
        copies += rows
    write_rows(out, read_metadata(trace), copies)
    return out


def reported_rules(result: AuditResult) -> dict[str, set[str]]:
    """Return the rules that are reported as violated, by broker."""
    by_broker: dict[str, set[str]] = {}
    for violation in result.violations:
        by_broker.setdefault(violation.broker, set()).add(violation.rule)
    return by_broker


def unnamed(result: AuditResult, changes: dict[str, Alter]) -> list[str]:
    """Return the copies whose rule is not named; none of them is the unaltered one."""
    by_broker = reported_rules(result)
    assert UNALTERED not in by_broker
    return [rule for rule in changes if rule not in by_broker.get(rule, ())]


@pytest.mark.long
@pytest.mark.parametrize("backend", ["local", "replay"])
def test_a_recorded_topology_keeps_the_rules_of_stores(streams: Path, backend: str) -> None:
    assert read_metadata(streams).threads == "one"
    rules = audit_folder(streams, backend).rules
    assert Verdict.VIOLATES not in rules.values()
    assert {rule: rules[rule] for rule in RULES_OF_STORES} == dict.fromkeys(RULES_OF_STORES, Verdict.CONFORMS)


@pytest.mark.long
def test_random_cases_of_stores_break_no_rule(tmp_path: Path) -> None:
    record_stores(tmp_path / "trace", "windows", 25)
    for backend in ("local", "replay"):
        result = audit_folder(tmp_path / "trace", backend)
        assert result.violations == ()
        assert {rule for rule in RULES_OF_STORES if result.rules[rule] is Verdict.CONFORMS} >= {
            "K-STORE-2",
            "K-WINDOW-6",
        }


def test_every_rule_of_stores_has_an_altered_copy() -> None:
    assert OF_STREAMS.keys() == RULES_OF_STORES


@pytest.mark.long
def test_the_altered_row_of_a_store_is_named(streams: Path, tmp_path: Path) -> None:
    copies = write_copies(tmp_path / "copies", streams, OF_STREAMS)
    assert unnamed(audit_folder(copies, "local"), OF_STREAMS) == []


@pytest.mark.long
def test_each_backend_names_the_altered_row_of_a_store(
    streams: Path, tmp_path: Path, evaluate: Callable[[Path], AuditResult]
) -> None:
    copies = write_copies(tmp_path / "copies", streams, OF_STREAMS)
    assert unnamed(evaluate(copies), OF_STREAMS) == []


@pytest.mark.long
def test_the_checker_names_what_windows_name(streams: Path, tmp_path: Path) -> None:
    assert compare_with_windows(write_copies(tmp_path / "copies", streams, OF_STREAMS)) == 1 + len(OF_STREAMS)


# ---------- reads of managed ledgers


def is_fill(row: Row) -> bool:
    return row["op"] == "INSERT" and row["cause"] == "FILL" and row["ask_id"] is not None


def is_permit(row: Row, cause: str, waited: bool | None = None) -> bool:
    is_it = row["op"] == "PERMIT" and row["cause"] == cause
    return is_it and (waited is None or (row["ticket"] is not None) is waited)


def ask_again(rows: list[Row]) -> None:
    """Ask for what an open ask of the same ledger brings."""
    open_asks: dict[int, Row] = {}
    for row in rows:
        if row["op"] == "ANSWER":
            open_asks = {} if row["cause"] == "FAIL" else {k: v for k, v in open_asks.items() if k != row["ask_id"]}
        if row["op"] == "ASK":
            for other in open_asks.values():
                if all(other[name] == row[name] for name in ("cache", "ledger_id")):
                    row.update(entry_id=other["entry_id"], last_entry_id=other["last_entry_id"])
                    return
            open_asks[row["ask_id"]] = row
    raise LookupError("no two asks of one ledger are open")


def end_no_read(rows: list[Row]) -> None:
    """End another read than the last one; the asks are answered, and nobody waits."""
    asks = Counter(row["op"] for row in rows if row["op"] in ("ASK", "ANSWER"))
    waiting = Counter(is_permit(row, "QUEUED") for row in rows if is_permit(row, "QUEUED") or row["ticket"] is not None)
    if asks["ASK"] != asks["ANSWER"] or any(is_permit(row, "QUEUED") for row in rows) or waiting[True]:
        raise LookupError("a read may wait")
    [row for row in rows if row["op"] == "READ_END"][-1]["read_id"] += 1


def queue_what_fits(rows: list[Row]) -> None:
    at = next(at for at, row in enumerate(rows) if is_permit(row, "TAKEN", waited=False))
    rows[at].update(cause="QUEUED", tail_no=sum(is_permit(row, "QUEUED") for row in rows[:at]))


def give_up_early(rows: list[Row]) -> None:
    pick(rows, lambda row: is_permit(row, "TAKEN", waited=True))["cause"] = "REFUSED"


def add(column: str, number: int, accept: Callable[[Row], object]) -> Alter:
    """Return a change that adds a number to a column of one row."""

    def alter(rows: list[Row]) -> None:
        pick(rows, lambda row: accept(row) and row[column] is not None)[column] += number

    return alter


def name_another_cursor(rows: list[Row]) -> None:
    asks = {row["ask_id"] for row in rows if row["op"] == "ASK" and row["cursor"] is not None}
    pick(rows, lambda row: is_fill(row) and row["cursor"] is not None and row["ask_id"] in asks)["cursor"] = "nobody"


def count_one_fill_more(rows: list[Row]) -> None:
    fills = [row for row in rows if is_fill(row)]
    later = [row for before, row in pairwise(fills) if row["ask_id"] == before["ask_id"]]
    pick(later, lambda row: row["expected_reads"] is not None)["expected_reads"] += 1


def end_without_a_failure(rows: list[Row]) -> None:
    """Let a read fail in a later call than it began in, although nothing has failed before."""
    failures = ("FAIL", "BUSY", "SHORT", "REFUSED")
    for row in rows:
        if row["cause"] in failures:
            break
        if row["op"] == "READ_END" and row["cause"] == "DONE" and row["call_id"] != row["read_id"]:
            row["cause"] = "FAILED"
            return
    raise LookupError("something has failed before")


def delete_another_ledger(rows: list[Row]) -> None:
    whole = {(row["cache"], row["ledger_id"]) for row in rows if row["op"] == "REMOVE" and row["cause"] == "LEDGER"}
    pick(rows, lambda row: row["op"] == "LEDGER_DELETE" and (row["cache"], row["ledger_id"]) in whole)["ledger_id"] += (
        99
    )


def look_before_the_permits(rows: list[Row]) -> None:
    """Give permits to another read than the one that looks at the cache."""
    readers = {row["read_id"] for row in rows if row["op"] in ("HIT", "ASK")}
    row = pick(rows, lambda row: is_permit(row, "TAKEN", waited=False) and row["read_id"] in readers)
    row["read_id"] = next(
        one["read_id"] for one in rows if one["op"] == "READ_BEGIN" and one["read_id"] != row["read_id"]
    )


def deliver_for_a_failed_read(rows: list[Row]) -> None:
    failed = next(row for row in rows if row["op"] == "READ_END" and row["cause"] == "FAILED")
    later = (row for row in rows if row["seq"] > failed["seq"] and row["op"] == "READ_DONE")
    next(row for row in later if row["cause"] == "DELIVERED")["read_id"] = failed["read_id"]


OF_READS: dict[str, Alter] = {
    "R-INFLIGHT-1": add("last_entry_id", 1, lambda row: row["op"] == "ANSWER" and row["cause"] == "ALL"),
    "R-INFLIGHT-2": ask_again,
    "R-INFLIGHT-3": name_another_cursor,
    "R-INFLIGHT-4": add("entry_id", 1_000, lambda row: row["op"] == "READ_DONE" and row["ask_id"] is not None),
    "R-INFLIGHT-9": deliver_for_a_failed_read,
    "R-INFLIGHT-10": end_without_a_failure,
    "R-INFLIGHT-13": end_no_read,
    "R-LEDGER-1": add("expected_reads", 1, lambda row: row["op"] == "INSERT" and row["cause"] == "ADD"),
    "R-LEDGER-6": count_one_fill_more,
    "R-LEDGER-14": add("entry_id", 1_000, lambda row: row["op"] == "REMOVE" and row["cause"] == "CURSOR"),
    "R-LEDGER-17": delete_another_ledger,
    "R-LIMIT-1": look_before_the_permits,
    "R-LIMIT-2": queue_what_fits,
    "R-LIMIT-3": add("permits", 1, lambda row: is_permit(row, "TAKEN")),
    "R-LIMIT-4": add("tail_no", 1, lambda row: is_permit(row, "QUEUED")),
    "R-LIMIT-5": add("ticket", 1, lambda row: is_permit(row, "TAKEN", waited=True)),
    "R-LIMIT-6": give_up_early,
    "R-LIMIT-7": add("permits", 1 << 40, lambda row: is_permit(row, "GIVEN")),
}

CANDIDATES = 6
"""The number of random cases to which a change is applied; in some the altered row shows nothing."""


@pytest.fixture(scope="module")
def altered_reads(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a trace of random cases of the reference, each with one altered row."""
    folder = tmp_path_factory.mktemp("reads")
    brokers: list[list[Row]] = []
    for level in ("ledger", "inflight", "limits"):
        record_level(folder / level, level, 60)
        of_level: dict[str, list[Row]] = {}
        for row in rows_of(folder / level):
            of_level.setdefault(row["broker"], []).append(row)
        brokers += of_level.values()
    copies: list[Row] = []
    used: dict[int, list[Row]] = {}
    for rule, alter in OF_READS.items():
        copied = 0
        for at, rows in enumerate(brokers):
            copy = plant.renamed(rows, f"{rule} {copied}")
            try:
                alter(copy)
            except (LookupError, StopIteration):
                continue
            copies += copy
            used[at] = rows
            copied += 1
            if copied == CANDIDATES:
                break
        assert copied, rule
    copies += [row for at, rows in used.items() for row in plant.renamed(rows, f"{UNALTERED} {at}")]
    return plant.write(folder / "altered", copies)


def unnamed_reads(result: AuditResult) -> list[str]:
    by_broker = reported_rules(result)
    assert not any(name.startswith(UNALTERED) for name in by_broker)
    named = {rule for rule in OF_READS if any(rule in by_broker.get(f"{rule} {at}", ()) for at in range(CANDIDATES))}
    return sorted(OF_READS.keys() - named)


def test_every_rule_of_reads_has_an_altered_copy() -> None:
    levels = ("R-INFLIGHT-", "R-LEDGER-", "R-LIMIT-")
    assert {rule.id for rule in all_rules(PULSAR) if rule.id.startswith(levels)} == OF_READS.keys()


@pytest.mark.long
def test_the_altered_row_of_a_read_is_named(altered_reads: Path) -> None:
    for backend in ("local", "replay"):
        assert unnamed_reads(audit_folder(altered_reads, backend)) == []


@pytest.mark.long
@pytest.mark.parametrize("backend", ["spark", "spark sql"])
def test_spark_names_the_altered_row_of_a_read(
    altered_reads: Path, evaluators: dict[str, Callable[[Path], AuditResult]], backend: str
) -> None:
    assert unnamed_reads(evaluators[backend](altered_reads)) == []


# ---------- a real broker


def event(op: str, cause: str | None = None) -> Callable[[Row], bool]:
    return lambda row: row["op"] == op and cause in (None, row["cause"])


def flip(column: str, accept: Callable[[Row], object]) -> Alter:
    """Return a change of a flag of one row."""

    def alter(rows: list[Row]) -> None:
        row = pick(rows, accept)
        row[column] = not row[column]

    return alter


def report_more_entries(rows: list[Row]) -> None:
    row = next(row for row in rows if row["op"] == "END")
    counters = json.loads(row["value"])
    row["value"] = json.dumps({**counters, "entries": counters["entries"] + 1})


OF_BROKER: dict[str, Alter] = {
    "a slot out of order": add("ticket", 1, event("EVICT")),
    "a dequeue twice": add("head_no", 1, event("REQUEUE")),
    "an enqueue left out": add("tail_no", 1, event("INSERT")),
    "a sum too large": add("bytes_after", 1, event("HIT")),
    "a size that changes": add("size_bytes", 1, event("EVICT")),
    "an insert of another size": add("size_bytes", 1, event("INSERT", "ADD")),
    "a life that ended": add("life", -1, event("HIT", "READ")),
    "another position": add("entry_id", 1, event("EVICT")),
    "a young entry expires": add("stamp_ns", 1 << 40, event("EVICT", "TIME")),
    "a requeue without a cause": flip("accessed", event("REQUEUE", "ACCESSED")),
    "a requeue too many": add("requeues", 1, event("REQUEUE", "EXPECTED_READS")),
    "a requeued stamp of the past": add("new_stamp_ns", -(1 << 40), event("REQUEUE")),
    "an eviction of an accessed entry": flip("accessed", event("EVICT", "TIME")),
    "a read that counts twice": add("expected_reads", -1, event("READ_DONE", "DELIVERED")),
    "a rank of another cursor": add("expected_reads", 1, event("INSERT", "FILL")),
    "an added count of more cursors": add("expected_reads", 1, event("INSERT", "ADD")),
    "time goes back": add("ts_ns", -(1 << 40), event("HIT")),
    "a pass of another time": add("bound", 1 << 40, event("PASS_END", "TIME")),
    "a slot too many in a pass": add("head_no", 1, event("PASS_END")),
    "an entry too many": report_more_entries,
}


def put(column: str, value: object, accept: Callable[[Row], object]) -> Alter:
    """Return a change that gives a column of one row another value."""

    def alter(rows: list[Row]) -> None:
        pick(rows, accept)[column] = value

    return alter


def of_delivered_ask(rows: list[Row], op: str) -> Row:
    """Return the ASK or the ANSWER of an ask that brought several entries, of which one was delivered."""
    delivered = {row["ask_id"] for row in rows if row["op"] == "READ_DONE" and row["cause"] == "DELIVERED"}
    return pick(
        rows,
        lambda row: row["op"] == op and row["ask_id"] in delivered and row["entry_id"] < row["last_entry_id"],
    )


def fail_what_was_delivered(rows: list[Row]) -> None:
    of_delivered_ask(rows, "ANSWER")["cause"] = "FAIL"


def answer_short_of_what_was_delivered(rows: list[Row]) -> None:
    row = of_delivered_ask(rows, "ANSWER")
    done = (one for one in rows if one["op"] == "READ_DONE" and one["ask_id"] == row["ask_id"])
    row.update(cause="SHORT", last_entry_id=max(one["entry_id"] for one in done) - 1)


def give_more_than_is_out(rows: list[Row]) -> None:
    [row for row in rows if is_permit(row, "GIVEN")][-1]["permits"] += 1 << 40


def ask(column: str, number: int) -> Alter:
    return add(column, number, event("ASK"))


def answer(column: str, number: int) -> Alter:
    return add(column, number, event("ANSWER", "ALL"))


REPLACED: Final = "another"
"""The name of a cursor or a cache that the trace does not have."""

OF_BROKER_READS: Final[dict[str, tuple[str, Alter]]] = {
    "an ask of another number": ("R-INFLIGHT-1", ask("ask_id", 1)),
    "an ask from another entry": ("R-INFLIGHT-1", ask("entry_id", -1)),
    "an ask up to another entry": ("R-INFLIGHT-1", ask("last_entry_id", 1)),
    "an ask of another ledger": ("R-INFLIGHT-1", ask("ledger_id", 1)),
    "an ask of another cache": ("R-INFLIGHT-1", put("cache", REPLACED, event("ASK"))),
    "an answer to another ask": ("R-INFLIGHT-1", answer("ask_id", 1)),
    "an answer from another entry": ("R-INFLIGHT-1", answer("entry_id", 1)),
    "an answer too long": ("R-INFLIGHT-1", answer("last_entry_id", 1)),
    "an answer of another ledger": ("R-INFLIGHT-1", answer("ledger_id", 1)),
    "an answer of another cache": ("R-INFLIGHT-1", put("cache", REPLACED, event("ANSWER", "ALL"))),
    "a whole answer that is short": ("R-INFLIGHT-1", put("cause", "SHORT", event("ANSWER", "ALL"))),
    "a failed ask that was delivered": ("R-INFLIGHT-4", fail_what_was_delivered),
    "an answer without what was delivered": ("R-INFLIGHT-4", answer_short_of_what_was_delivered),
    "a delivery of another entry": ("R-INFLIGHT-4", OF_READS["R-INFLIGHT-4"]),
    "a delivery of another ask": (
        "R-INFLIGHT-4",
        add("ask_id", 1, lambda row: row["op"] == "READ_DONE" and row["ask_id"] is not None),
    ),
    "a fill with a count of its own": ("R-LEDGER-6", count_one_fill_more),
    "a begin of another read": ("R-INFLIGHT-13", add("read_id", 1, event("READ_BEGIN"))),
    "a begin by another cursor": ("R-INFLIGHT-13", put("cursor", REPLACED, event("READ_BEGIN"))),
    "a begin in another cache": ("R-INFLIGHT-13", put("cache", REPLACED, event("READ_BEGIN"))),
    "an end of another read": ("R-INFLIGHT-13", add("read_id", 1, event("READ_END"))),
    "an end for another cursor": ("R-INFLIGHT-13", put("cursor", REPLACED, event("READ_END"))),
    "an end in another cache": ("R-INFLIGHT-13", put("cache", REPLACED, event("READ_END"))),
    "more permits than asked for": ("R-LIMIT-3", OF_READS["R-LIMIT-3"]),
    "fewer permits than asked for": ("R-LIMIT-3", add("bound", 1, lambda row: is_permit(row, "TAKEN"))),
    "more permits back than out": ("R-LIMIT-7", give_more_than_is_out),
    "a request that waits though it fits": ("R-LIMIT-2", queue_what_fits),
    "a request that waits at another place": ("R-LIMIT-4", OF_READS["R-LIMIT-4"]),
    "a refusal beside a free place": ("R-LIMIT-4", put("cause", "REFUSED", lambda row: is_permit(row, "QUEUED"))),
    "a request that is served out of turn": ("R-LIMIT-5", OF_READS["R-LIMIT-5"]),
    "a request that times out early": ("R-LIMIT-6", give_up_early),
}
"""Changes of the rows of reads and permits, with the rule that names each; those of permits that wait need luck."""


def applicable(changes: dict[str, Alter], rows: list[Row]) -> dict[str, Alter]:
    """Return the changes that the events of a trace allow; some events depend on timing."""
    fit = {}
    for name, alter in changes.items():
        with suppress(LookupError, StopIteration):
            alter([dict(row) for row in rows])
            fit[name] = alter
    return fit


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the trace of a broker 4.2.4 with a few clients."""
    out = tmp_path_factory.mktemp("broker") / "trace"
    try:
        plan = replace(BROKER_PLANS["mixed"], messages=800, cache_mib=1, message_bytes=2_048, entries_a_ledger=300)
        record_broker("4.2.4", plan, out, lambda line: None)
    except MissingPrerequisite as missing:
        pytest.skip(str(missing))
    return out


@pytest.mark.long
def test_altered_rows_of_a_real_broker_are_named(
    broker: Path, tmp_path: Path, evaluators: dict[str, Callable[[Path], AuditResult]]
) -> None:
    changes = applicable(OF_BROKER, rows_of(broker))
    assert len(changes) >= 15
    copies = write_copies(tmp_path / "copies", broker, changes)
    for backend in ("local", "spark"):
        by_broker = reported_rules(evaluators[backend](copies))
        assert by_broker.keys() == changes.keys(), backend


@pytest.mark.long
def test_the_rule_of_an_altered_row_of_reads_is_named(
    broker: Path, tmp_path: Path, evaluators: dict[str, Callable[[Path], AuditResult]]
) -> None:
    changes = applicable({name: alter for name, (_, alter) in OF_BROKER_READS.items()}, rows_of(broker))
    assert len(changes) >= 20
    copies = write_copies(tmp_path / "copies", broker, changes)
    for backend in ("local", "spark", "spark sql"):
        by_broker = reported_rules(evaluators[backend](copies))
        assert UNALTERED not in by_broker, backend
        wrong = {
            name: by_broker.get(name) for name in changes if OF_BROKER_READS[name][0] not in by_broker.get(name, ())
        }
        assert not wrong, backend
