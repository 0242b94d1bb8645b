"""Each value of the rows of stores and of reads, altered in one row: a rule names it, or `UNDECIDED` says why none can.

The trace is a case of three stores that the reference plays. Each altered copy of it is a broker. `NAMED` holds the
rules of which one must name the copy, by op and column; a setting of STORE_OPEN stands behind `value`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from entrycache_cli.commands.kafka_recording import play_stores
from entrycache_cli.commands.record import record
from entrycache_conformance.resolve import SubjectChoice, resolve_subject
from entrycache_conformance.systems import SYSTEMS
from entrycache_protocol.case import case_from_json, config_to_json
from entrycache_reference.kafka_streams import NAME as STREAMS
from entrycache_reference.pulsar_pip430 import NAME as PULSAR
from entrycache_spark.common.results import AuditResult, Verdict
from entrycache_spark.folders import audit_folder
from entrycache_trace.files import Metadata, iterate_rows, list_parts
from entrycache_trace.formats.kafka_streams import write_case_trace
from entrycache_trace.recording import CaseStep
from tests.support.traces import plant
from tests.support.traces.checker_runs import compare_with_windows

Row = dict[str, Any]

OPS: Final = ("STORE_OPEN", "STORE_CLOSE", "PUT", "BELOW", "FORWARD", "VIEW", "VIEW_ENTRY")
KINDS: Final = ("kv", "window", "session")


def steps() -> Iterator[dict[str, Any]]:
    """Yield the steps of the case: each store is written, flushed and viewed twice, and closed; one opens once more."""
    for kind in KINDS:
        timed = {} if kind == "kv" else {"below": "segments", "retention": 1000, "segment_interval": 60}
        yield {"op": "store_open", "store": kind, "kind": kind, "old_values": True, **timed}
    for value, backward in (("1", False), (None, True)):
        for number, key in enumerate(("c", "b", "a")):
            new = value if key == "b" else value or "3"
            times = {"start": 100 * number, "end": 100 * number + 5}
            yield {"op": "store_put", "store": "kv", "key": key, "value": new}
            yield {"op": "window_put", "store": "window", "key": key, "start": 100 * number, "value": new}
            yield {"op": "session_put", "store": "session", "key": key, **times, "value": new}
        for kind in KINDS:
            yield {"op": "store_flush", "store": kind}
        times = {"earliest_end": 0, "latest_start": 900}
        yield {"op": "store_view", "store": "kv", "from": "a", "to": "c", "backward": backward}
        yield {"op": "window_view", "store": "window", "time_from": 0, "time_to": 900, "backward": backward}
        yield {"op": "session_view", "store": "session", "from": "a", "to": "c", **times, "backward": backward}
    yield {"op": "session_put", "store": "session", "key": "d", "start": 300, "end": 305, "value": "1"}
    for kind in KINDS:
        yield {"op": "store_close", "store": kind}
    yield {"op": "store_open", "store": "kv", "listens": False}
    yield {"op": "store_put", "store": "kv", "key": "a", "value": "1"}
    yield {"op": "store_flush", "store": "kv"}
    yield {"op": "store_view", "store": "kv", "prefix": "a"}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    """Return the rows of the case."""
    system = SYSTEMS[STREAMS]
    case = case_from_json({"system": STREAMS, "steps": list(steps())}, SYSTEMS)
    calls = [
        CaseStep(op, partial(system.wire.write_outcome, outcome), rows, None)
        for op, (outcome, rows) in zip(case.steps, play_stores(case), strict=True)
    ]
    out = tmp_path_factory.mktemp("recorded") / "trace"
    write_case_trace(out, Metadata(system=STREAMS), config_to_json(system, case.config), calls)
    return list(iterate_rows(list_parts(out)))


NAMED: Final[dict[tuple[str, str], set[str]]] = {
    ("STORE_OPEN", "store_kind kv"): {"K-STORE-2"},
    ("STORE_OPEN", "value listens"): {"K-STORE-4"},
    ("STORE_OPEN", "value old_values"): {"K-OLD-2"},
    ("STORE_OPEN", "value retention"): {"K-WINDOW-6"},
    ("STORE_OPEN", "value segment_interval"): {"K-WINDOW-1"},
    ("STORE_CLOSE", "cache"): {"K-CLOSE-3"},
    **{("PUT", name): {"K-STORE-2"} for name in ("key_hash", "cause", "window_start", "window_end")},
    ("PUT", "cache"): {"K-FLUSH-1"},
    ("PUT", "life"): {"K-PUT-1"},
    ("PUT", "size_bytes"): {"K-SIZE-1"},
    ("PUT", "dirty"): {"K-FLUSH-2"},
    **{(op, "manager_bytes"): {"K-METRICS-1"} for op in ("STORE_OPEN", "STORE_CLOSE", "PUT", "VIEW_ENTRY")},
    **{("BELOW", name): {"K-STORE-2"} for name in ("cache", "key_hash", "life", "cause", "window_start", "window_end")},
    ("BELOW", "value_hash"): {"K-STORE-4"},
    **{("FORWARD", name): {"K-STORE-4"} for name in ("cache", "key_hash", "life", "cause", "window_start")},
    **{("FORWARD", name): {"K-STORE-4"} for name in ("window_end", "value_hash")},
    ("FORWARD", "old_hash"): {"K-OLD-2"},
    **{("VIEW", name): {"K-VIEW-1", "K-WINDOW-1"} for name in ("cache", "cause", "pass_id")},
    ("VIEW", "value"): {"K-VIEW-1", "K-WINDOW-2"},
    ("VIEW", "value prefix"): {"K-VIEW-1"},
    ("BELOW", "once more"): {"K-STORE-2"},
    **{("VIEW_ENTRY", name): {"K-VIEW-1", "K-WINDOW-1"} for name in ("cache", "cause", "pass_id")},
    **{("VIEW_ENTRY", name): {"K-VIEW-1", "K-WINDOW-2"} for name in ("key_hash", "value")},
    **{("VIEW_ENTRY", name): {"K-WINDOW-2"} for name in ("window_start", "window_end")},
    **{(op, "ts_ns"): {"K-LIVENESS-1"} for op in OPS},
    **{(op, "bytes_after"): {"K-METRICS-1"} for op in OPS},
    **{(op, "call_id"): {"K-LIVENESS-1"} for op in OPS},
}

UNDECIDED: Final = {
    ("STORE_OPEN", "cache"): "the rows of a store that no STORE_OPEN names are not judged: a recorder may begin later",
    ("STORE_OPEN", "once more"): "no rule forbids it, and a store that its own closing opens again stands so",
    ("STORE_OPEN", "store_kind session"): "a window without an end may be a session whose end is not recorded",
    **dict.fromkeys(
        ((op, "manager_bytes") for op in ("BELOW", "FORWARD", "VIEW")),
        "within a call the cache's own total may be behind; in the last row of a call K-METRICS-1 compares it",
    ),
}

SWAPPED: Final = {"VALUE": "DELETE", "PUT": "DELETE", "FORWARD": "BACKWARD", "BACKWARD": "FORWARD"}

NUMBERS: Final = ("seq", "call_id", "life", "pass_id")
"""The columns that hold the number of an event."""

SETTINGS: Final = {"listens": 0, "old_values": 0, "retention": 1, "segment_interval": 1_000_000}


def alter(row: Row, name: str) -> Iterator[tuple[str, object]]:
    """Yield other values of a column, each with the name of the change."""
    value = row[name]
    if name == "cause":
        yield name, SWAPPED[value]
    elif name == "store_kind":
        yield from ((f"{name} {kind}", kind) for kind in KINDS if kind != value)
    elif name == "value" and row["op"] == "STORE_OPEN":
        settings = json.loads(value)
        yield from ((f"{name} {key}", json.dumps({**settings, key: other})) for key, other in SETTINGS.items())
    elif name == "value":
        other = {**json.loads(value), "to": "61", "time_to": 50} if row["op"] == "VIEW" else "7a"
        yield name, json.dumps(other)
    elif name == "cache":
        yield name, "window" if value == "session" else "session"
    else:
        yield name, not value if isinstance(value, bool) else value + 1


def alterable(rows: list[Row], op: str, name: str) -> int | None:
    """Return the number of a row of an op that has a column, of the store of windows if it has such rows."""
    fit = [at for at, row in enumerate(rows) if row["op"] == op and row[name] is not None and row["cause"] != "DELETE"]
    if op == "STORE_CLOSE":
        return fit[0] if fit else None
    fit = [at for at in fit if rows[at]["cache"] == "window"] or fit
    return fit[{"VIEW_ENTRY": -1, "FORWARD": 0}.get(op, len(fit) // 2)] if fit else None


def alter_each(rows: list[Row]) -> tuple[list[Row], list[tuple[str, str]]]:
    """Return a copy without a change and one for each change, and the changes."""
    copies, changes = plant.renamed(rows, "unaltered"), []
    for op in OPS:
        for name in rows[0].keys() - {"broker", "seq", "op"}:
            at = alterable(rows, op, name)
            for change, value in [] if at is None else alter(rows[at], name):
                copy = plant.renamed(rows, f"{op} {change}")
                copy[at][name] = value
                copies += copy
                changes.append((op, change))
    copy = plant.renamed(rows, "VIEW value prefix")
    row = next(row for row in copy if row["op"] == "VIEW" and "prefix" in row["value"])
    row["value"] = json.dumps({**json.loads(row["value"]), "prefix": "62"})
    copies += copy
    for op in ("BELOW", "STORE_OPEN"):
        at = alterable(rows, op, "cache")
        assert at is not None
        copies += repeat(plant.renamed(rows, f"{op} once more"), at)
        changes.append((op, "once more"))
    return copies, [*changes, ("VIEW", "value prefix")]


def repeat(rows: list[Row], at: int) -> list[Row]:
    """Return the rows with one of them twice, numbered anew."""
    again = {**rows[at], "seq": rows[at]["seq"] + 1}
    for row in rows[at + 1 :]:
        row |= {name: row[name] + 1 for name in NUMBERS if row[name] is not None and row[name] >= again["seq"]}
    return [*rows[: at + 1], again, *rows[at + 1 :]]


def rules_by_broker(evaluate: Callable[[Path], AuditResult], trace: Path) -> dict[str, set[str]]:
    """Return the rules that name each broker."""
    named: dict[str, set[str]] = {}
    for violation in evaluate(trace).violations:
        named.setdefault(violation.broker, set()).add(violation.rule)
    return named


def check_names(recorded: list[Row], folder: Path, evaluate: Callable[[Path], AuditResult]) -> None:
    """Check which altered copies are named."""
    copies, changes = alter_each(recorded)
    assert set(changes) == NAMED.keys() | UNDECIDED.keys()
    named = rules_by_broker(evaluate, plant.write(folder / "altered", copies, system=STREAMS))
    wrong = {change for change, rules in NAMED.items() if not named.get(" ".join(change), set()) & rules}
    assert not wrong, {change: named.get(" ".join(change)) for change in wrong}
    assert not named.keys() & {"unaltered", *(" ".join(change) for change in UNDECIDED)}


def test_an_altered_value_of_a_store_is_named(recorded: list[Row], tmp_path: Path) -> None:
    check_names(recorded, tmp_path, lambda trace: audit_folder(trace, "local"))


@pytest.mark.long
def test_each_backend_names_an_altered_value_of_a_store(
    recorded: list[Row], tmp_path: Path, evaluators: dict[str, Callable[[Path], AuditResult]]
) -> None:
    for name, evaluate in evaluators.items():
        check_names(recorded, tmp_path / name, evaluate)


@pytest.mark.long
def test_the_checker_names_what_windows_name(recorded: list[Row], tmp_path: Path) -> None:
    copies, changes = alter_each(recorded)
    assert compare_with_windows(plant.write(tmp_path / "altered", copies, system=STREAMS)) == 1 + len(changes)


@pytest.mark.long
@pytest.mark.parametrize("backend", ["local", "replay"])
def test_a_value_of_a_store_that_is_not_recorded_accuses_nobody(
    recorded: list[Row], tmp_path: Path, backend: str
) -> None:
    """A null in `old_hash` is a value: the format says that there was none."""
    copies: list[Row] = []
    for op in OPS:
        for name in recorded[0].keys() - {"broker", "seq", "op", "ts_ns", "bytes_after", "cache", "old_hash"}:
            have = [at for at, row in enumerate(recorded) if row["op"] == op and row[name] is not None]
            for lacking in (have[len(have) // 2 :][:1], have[::2], have) if have else ():
                copy = plant.renamed(recorded, f"{op} {name} {len(lacking)}")
                for at in lacking:
                    copy[at][name] = None
                copies += copy
    result = audit_folder(plant.write(tmp_path / "unrecorded", copies, system=STREAMS), backend)
    assert result.violations == ()


_ENTRY: Final = ("key_hash", "cause", "window_start", "window_end")
DECIDING: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "K-STORE-2": {
        "STORE_OPEN": ("store_kind", "value"),
        "PUT": (*_ENTRY, "life"),
        "BELOW": (*_ENTRY, "life", "call_id"),
    },
    "K-STORE-4": {
        "STORE_OPEN": ("store_kind", "value"),
        "PUT": (*_ENTRY, "life"),
        **dict.fromkeys(("BELOW", "FORWARD"), (*_ENTRY, "life", "call_id", "value_hash")),
    },
    "K-CLOSE-3": dict.fromkeys(("STORE_CLOSE", "BELOW", "FORWARD", "VIEW", "VIEW_ENTRY"), ("call_id",)),
    "K-OLD-2": {"STORE_OPEN": ("value",), "FORWARD": ("key_hash", "cause", "life", "value_hash")},
    "K-VIEW-1": {
        "STORE_OPEN": ("store_kind",),
        "PUT": ("key_hash", "cause"),
        "VIEW": ("cause", "pass_id", "value"),
        "VIEW_ENTRY": (*_ENTRY, "pass_id", "value"),
    },
    "K-WINDOW-1": {
        "STORE_OPEN": ("store_kind", "value"),
        "VIEW": ("cause", "pass_id"),
        "VIEW_ENTRY": ("cause", "pass_id", "value", "window_end"),
    },
    "K-WINDOW-2": {
        "STORE_OPEN": ("store_kind",),
        "PUT": _ENTRY,
        "VIEW": ("pass_id", "value"),
        "VIEW_ENTRY": ("key_hash", "pass_id", "value", "window_end"),
    },
    "K-WINDOW-6": {
        "STORE_OPEN": ("store_kind", "value"),
        **dict.fromkeys(("PUT", "BELOW", "FORWARD"), ("window_end",)),
        "PUT": ("window_start", "window_end"),
    },
}
"""The columns that decide each rule of stores, by op. Without `window_start` a VIEW_ENTRY is one of K-VIEW-1, whose
note says so, and K-WINDOW-6 checks no such BELOW and FORWARD."""


IN_ALL, IN_EVERY_OP = "in all", "in every op"


def unrecorded(recorded: list[Row]) -> Iterator[tuple[str, str, str, list[Row]]]:
    """Yield copies that lack a value: the op, the column, which of its rows lack it, and the rows.

    It is null in all rows of the op, in those of all ops, or in one row of a store, which is named.
    """
    columns = {(op, name) for ops in DECIDING.values() for op, names in ops.items() for name in names}
    for op, name in sorted(columns):
        have = [at for at, row in enumerate(recorded) if row["op"] == op and row[name] is not None]
        everywhere = [at for at, row in enumerate(recorded) if row["op"] in OPS and row[name] is not None]
        of_store = {recorded[at]["cache"]: [at] for at in reversed(have)}
        for how, lacking in ((IN_ALL, have), (IN_EVERY_OP, everywhere), *of_store.items()):
            copy = plant.renamed(recorded, f"{op} {name} {how}")
            for at in lacking:
                copy[at][name] = None
            yield op, name, how, copy


def decides(rule: str, op: str, name: str, how: str) -> bool:
    """Return whether a rule reads the value of these rows: three rules are about some stores only."""
    if name not in DECIDING[rule].get(op, ()):
        return False
    if how in (IN_ALL, IN_EVERY_OP):
        return True
    if op == "STORE_OPEN":
        return how != "kv" or name != "value" or rule in ("K-STORE-4", "K-OLD-2")
    is_timeless = rule == "K-VIEW-1" and name.startswith("window")
    of_store = {"K-VIEW-1": how == "kv" or is_timeless, "K-WINDOW-1": how != "kv", "K-WINDOW-2": how != "kv"}
    return of_store.get(rule, True)


def check_unrecorded(recorded: list[Row], folder: Path, evaluate: Callable[[Path], AuditResult]) -> None:
    """Check that each rule that a null leaves open is inconclusive, checks nothing, or names what it left out."""
    copies = list(unrecorded(recorded))
    rows = [row for *_, own in copies for row in own]
    result = evaluate(plant.write(folder / "unrecorded", rows, system=STREAMS))
    assert result.violations == ()
    wrong = []
    for op, name, how, own in copies:
        broker = own[0]["broker"]
        notes = [note for note in result.notes if f"{broker!r}" in note and name in note]
        for rule in (rule for rule in DECIDING if decides(rule, op, name, how)):
            verdict = result.brokers[broker][rule]
            named = [note for note in notes if rule in note]
            is_empty = verdict is Verdict.NOTHING_CHECKED and notes != []
            is_open = verdict is Verdict.INCONCLUSIVE or any("not checked there" in note for note in named)
            if not (named and is_open) and not is_empty:
                wrong.append((op, name, how, rule, verdict.value))
    assert wrong == []


def test_a_rule_does_not_conform_without_a_value_that_decides_it(recorded: list[Row], tmp_path: Path) -> None:
    whole = audit_folder(plant.write(tmp_path / "whole", recorded, system=STREAMS), "local")
    assert {whole.rules[rule] for rule in DECIDING} == {Verdict.CONFORMS} and whole.notes == ()
    check_unrecorded(recorded, tmp_path, lambda trace: audit_folder(trace, "local"))


@pytest.mark.long
def test_no_backend_lets_a_rule_conform_without_a_value_that_decides_it(
    recorded: list[Row], tmp_path: Path, evaluators: dict[str, Callable[[Path], AuditResult]]
) -> None:
    for name, evaluate in evaluators.items():
        check_unrecorded(recorded, tmp_path / name, evaluate)


# ---------- reads in flight


def steps_of_reads() -> Iterator[dict[str, Any]]:
    """Yield reads that share an ask, wait for permits, are refused, fail, and hit; then a ledger is deleted."""
    cache = {"cache": "a"}
    for number in range(3):
        yield {"op": "append", **cache, "pos": [1, number], "size": 10}
    for cursor in "cdeg":
        yield {"op": "cursor_open", **cache, "cursor": cursor, "pos": [1, 0]}
    yield {"op": "append", **cache, "pos": [2, 0], "size": 10}
    yield {"op": "append", **cache, "pos": [2, 1], "size": 10}
    for cursor, entries in zip("cdeg", (2, 2, 1, 3), strict=True):
        yield {"op": "read_begin", **cache, "cursor": cursor, "read": f"{cursor}1", "max_entries": entries}
    yield {"op": "storage_answer", "ask": 0, "answer": "all"}
    yield from ({"op": "release", "hold": hold} for hold in ("c1", "d1"))
    yield {"op": "advance", "nanos": 6_000_000}
    yield {"op": "release", "hold": "e1"}
    for ask, answer in ((1, "fail"), (2, "busy")):
        yield {"op": "read_begin", **cache, "cursor": "c", "read": f"c{ask + 1}", "max_entries": 1}
        yield {"op": "storage_answer", "ask": ask, "answer": answer}
    yield {"op": "cursor_seek", **cache, "cursor": "g", "pos": [1, 1]}
    yield {"op": "read_begin", **cache, "cursor": "g", "read": "g2", "max_entries": 2}
    yield {"op": "storage_answer", "ask": 3, "answer": "all"}
    yield {"op": "release", "hold": "g2"}
    yield {"op": "delete_ledger", **cache, "ledger": 1}


@pytest.fixture(scope="module")
def reads(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    """Return the rows of the reads."""
    config = {"storage": "held", "max_size_bytes": 1_000_000, "grace_millis": 0}
    limits = {"max_reads_in_flight_bytes": 300, "acquire_timeout_millis": 5, "acquire_queue": 1}
    case = {"system": PULSAR, "config": {**config, **limits}, "steps": list(steps_of_reads())}
    out = tmp_path_factory.mktemp("reads") / "trace"
    record(resolve_subject(SubjectChoice("reference", system=PULSAR)), case_from_json(case, SYSTEMS), out)
    return list(iterate_rows(list_parts(out)))


NAMED_OF_READS: Final[dict[tuple[str, str], str]] = {
    **{(op, name): "R-INFLIGHT-13" for op in ("READ_BEGIN", "READ_END") for name in ("cache", "cursor", "read_id")},
    **{("ASK", name): "R-INFLIGHT-13" for name in ("cache", "cursor", "read_id")},
    **{("HIT", name): "R-INFLIGHT-13" for name in ("cache", "cursor", "read_id")},
    **{("READ_DONE", name): "R-INFLIGHT-4" for name in ("cache", "read_id", "ask_id")},
    **{("ANSWER", name): "R-INFLIGHT-1" for name in ("cache", "ledger_id", "entry_id", "last_entry_id", "ask_id")},
    **{("INSERT", name): "R-INFLIGHT-3" for name in ("cursor", "ask_id")},
}
"""The rule that names a row whose column has the value of another row, by op and column."""


def alter_reads(rows: list[Row]) -> list[Row]:
    """Return a copy without a change and one for each change."""
    copies = plant.renamed(rows, "unaltered")
    ids = {"read_id": "READ_BEGIN", "ask_id": "ASK"}
    for op, name in NAMED_OF_READS:
        at = max(at for at, row in enumerate(rows) if row["op"] == op and None not in (row[name], row["call_id"]))
        value = rows[at][name]
        if name in ids:
            value = next(row[name] for row in rows if row["op"] == ids[name] and row[name] != value)
        else:
            value = f"other {value}" if isinstance(value, str) else value + 1
        copy = plant.renamed(rows, f"{op} {name}")
        copy[at][name] = value
        copies += copy
    return copies


CAUSES: Final[dict[str, tuple[str, ...]]] = {
    "ANSWER": ("ALL", "FAIL", "BUSY", "SHORT"),
    "READ_END": ("DONE", "FAILED"),
    "PERMIT": ("TAKEN", "QUEUED", "REFUSED", "GIVEN"),
    **{"READ_BEGIN": (), "ASK": (), "LEDGER_DELETE": ()},
}
"""The ops of reads and permits with their causes."""

OF_PERMITS: Final = ("read_id", "tail_no", "ticket")
"""Columns that a PERMIT gets a value in, too."""

OF_READS: Final = (
    *("cause", "cache", "ledger_id", "entry_id", "cursor", "read_id", "ask_id", "last_entry_id", "permits", "bound"),
    *("tail_no", "ticket"),
)

UNDECIDED_OF_READS: Final = {
    "ANSWER FAIL cause BUSY": "both fail those who wait, and no other ask of the ledger is open that could be joined",
    "ANSWER BUSY cause FAIL": "both fail those who wait, and no other ask of the ledger is open that could be joined",
    "PERMIT GIVEN left out": "a reader may hold an entry to the end, and an entry that is not cached has no row",
}
"""Changes after which the trace is still one of a correct cache, each with the reason."""


def other_values(rows: list[Row], row: Row, name: str) -> list[object]:
    """Return other values of a column: another cause, a smaller and a larger number, another read or ask."""
    value = row[name]
    if name == "cause":
        return [cause for cause in CAUSES[row["op"]] if cause != value]
    if name in ("read_id", "ask_id"):
        first = {"read_id": "READ_BEGIN", "ask_id": "ASK"}[name]
        others = [one[name] for one in rows if one["op"] == first and one[name] != value]
        return [others[0], others[-1]]
    if isinstance(value, str):
        return [f"other {value}"]
    return [0] if value is None else [value + 1, value - 1]


def alter_each_read(rows: list[Row]) -> tuple[list[Row], dict[str, str]]:
    """Return a copy for each change of a row of reads or permits, and the kinds of the changes by broker."""
    copies, kinds = plant.renamed(rows, "unaltered"), {}

    def copy_as(at: int, kind: str, **columns: object) -> None:
        broker = f"{at} {kind} {len(kinds)}"
        copy = plant.renamed(rows, broker)
        copy[at].update(columns)
        copies.extend(copy)
        kinds[broker] = kind

    for at, row in enumerate(rows):
        if row["op"] not in CAUSES:
            continue
        event = row["op"] if row["cause"] is None else f"{row['op']} {row['cause']}"
        for name in OF_READS:
            if row[name] is not None or (row["op"] == "PERMIT" and name in OF_PERMITS):
                for value in other_values(rows, row, name):
                    queued = sum(one["cause"] == "QUEUED" for one in rows[:at])
                    place = {"tail_no": queued} if value == "QUEUED" else {}
                    copy_as(at, f"{event} {name} {value if name == 'cause' else ''}".strip(), **{name: value}, **place)
        nothing = dict.fromkeys(OF_READS)
        copy_as(at, f"{event} left out", **{**nothing, "op": "METRICS", "value": "{}"})
    return copies, kinds


def check_each_read(reads: list[Row], folder: Path, evaluate: Callable[[Path], AuditResult]) -> None:
    """Check that each change is named, but for those that no rule can decide."""
    copies, kinds = alter_each_read(reads)
    assert len(kinds) > 250
    named = rules_by_broker(evaluate, plant.write(folder / "each", copies, system=PULSAR))
    assert "unaltered" not in named
    unnamed = {kind for broker, kind in kinds.items() if broker not in named}
    assert unnamed == UNDECIDED_OF_READS.keys(), [broker for broker in kinds if broker not in named]


@pytest.mark.long
@pytest.mark.parametrize("backend", ["local", "replay"])
def test_each_altered_value_of_reads_and_permits_is_named(reads: list[Row], tmp_path: Path, backend: str) -> None:
    check_each_read(reads, tmp_path, lambda trace: audit_folder(trace, backend))


@pytest.mark.long
def test_the_checker_names_each_altered_value_of_reads_and_permits(reads: list[Row], tmp_path: Path) -> None:
    copies, kinds = alter_each_read(reads)
    assert compare_with_windows(plant.write(tmp_path / "each", copies, system=PULSAR)) == 1 + len(kinds)


def check_reads(reads: list[Row], folder: Path, evaluate: Callable[[Path], AuditResult]) -> None:
    """Check that each altered copy is named, and the unaltered one is not."""
    named = rules_by_broker(evaluate, plant.write(folder / "altered", alter_reads(reads), system=PULSAR))
    wrong = {change for change, rule in NAMED_OF_READS.items() if rule not in named.get(" ".join(change), ())}
    assert not wrong, {change: named.get(" ".join(change)) for change in wrong}
    assert "unaltered" not in named


def test_an_altered_value_of_a_read_is_named(reads: list[Row], tmp_path: Path) -> None:
    check_reads(reads, tmp_path, lambda trace: audit_folder(trace, "local"))


@pytest.mark.long
def test_each_backend_names_an_altered_value_of_a_read(
    reads: list[Row], tmp_path: Path, evaluators: dict[str, Callable[[Path], AuditResult]]
) -> None:
    for name, evaluate in evaluators.items():
        check_reads(reads, tmp_path / name, evaluate)


@pytest.mark.long
@pytest.mark.parametrize("backend", ["local", "replay"])
def test_a_value_of_a_read_that_is_not_recorded_accuses_nobody(reads: list[Row], tmp_path: Path, backend: str) -> None:
    copies: list[Row] = []
    for op, name in NAMED_OF_READS:
        have = [at for at, row in enumerate(reads) if row["op"] == op and row[name] is not None]
        for lacking in () if name == "cache" else {tuple(have[len(have) // 2 :][:1]), tuple(have[::2]), tuple(have)}:
            copy = plant.renamed(reads, f"{op} {name} {lacking}")
            for at in lacking:
                copy[at][name] = None
            copies += copy
    result = audit_folder(plant.write(tmp_path / "unrecorded", copies, system=PULSAR), backend)
    assert result.violations == ()
