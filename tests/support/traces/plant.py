"""Traces as lists of rows, and functions that seed violations into them.

A function changes the rows of one broker, and returns the rule that it violates and the seq. Everything else stays as
consistent as a faulty cache would leave it: sums, ordinals and amounts follow the change.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from entrycache_trace.files import Metadata, iterate_rows, list_parts, write_rows
from entrycache_trace.generators.generate import generate

SHOWN_COLUMNS = ("life", "size_bytes", "expected_reads", "requeues", "accessed", "stamp_ns")

Row = dict[str, Any]
Expected = tuple[str, int]
Plant = Callable[[list[Row], random.Random], Expected]

ENTRY_COLUMNS = (
    *("cache", "ledger_id", "entry_id", "life", "size_bytes", "expected_reads", "requeues", "accessed", "stamp_ns"),
    *("ticket", "op", "cause", "new_stamp_ns", "tail_no"),
)


def honest(
    directory: Path, events: int, seed: int, brokers: int = 1, preset: str = "tail-fanout"
) -> dict[str, list[Row]]:
    """Return the rows of a generated trace, by broker."""
    generate(preset, events, seed, directory, brokers)
    rows: dict[str, list[Row]] = {}
    for row in iterate_rows(list_parts(directory)):
        rows.setdefault(row["broker"], []).append(row)
    return rows


def renamed(rows: Iterable[Row], broker: str) -> list[Row]:
    """Return a copy of the rows under another broker name."""
    return [{**row, "broker": broker} for row in rows]


def write(directory: Path, rows: Iterable[Row], **metadata: Any) -> Path:
    """Write rows as a trace, and return its folder."""
    write_rows(directory, Metadata(**metadata), rows)
    return directory


def pick(rows: list[Row], chance: random.Random, accept: Callable[[Row], bool]) -> Row:
    """Return a random row among those that fit."""
    return chance.choice([row for row in rows if accept(row)])


def passes(rows: list[Row], cause: str) -> list[list[Row]]:
    """Return the rows of each pass of one kind, including begin and end."""
    begins = [row["seq"] for row in rows if row["op"] == "PASS_BEGIN" and row["cause"] == cause]
    return [[row for row in rows if row["pass_id"] == begin] for begin in begins]


def resum(rows: list[Row], size_pass_amounts: bool = True) -> None:
    """Recompute `bytes_after` and the remaining amounts of size passes from the rows."""
    total = rows[0]["bytes_after"]
    left: dict[int, int] = {}
    for row in rows:
        begin = row["pass_id"]
        if row["op"] == "PASS_BEGIN" and row["cause"] == "SIZE":
            left[begin] = row["bound"]
        if begin in left and size_pass_amounts:
            row["bound"] = left[begin]
        if row["op"] == "INSERT":
            total += row["size_bytes"]
        elif row["op"] in ("EVICT", "REMOVE"):
            total -= row["size_bytes"]
            if begin in left:
                left[begin] -= row["size_bytes"]
        row["bytes_after"] = row["manager_bytes"] = total


def shift(rows: list[Row], size_bytes: int, entries: int = 0) -> None:
    """Add bytes and entries to all rows, and to the values of END."""
    for row in rows:
        row["bytes_after"] += size_bytes
        row["manager_bytes"] = None if row["manager_bytes"] is None else row["manager_bytes"] + size_bytes
    counters = json.loads(rows[-1]["value"])
    rows[-1]["value"] = json.dumps(
        {**counters, "bytes": counters["bytes"] + size_bytes, "entries": counters["entries"] + entries}
    )


def without_slot_numbers(rows: list[Row]) -> None:
    """Remove the ordinals of slots."""
    for row in rows:
        row["tail_no"] = row["head_no"] = row["ticket"] = None


def _neighbours(rows: list[Row], chance: random.Random) -> tuple[Row, Row]:
    pairs_of_evictions = []
    for members in [*passes(rows, "TIME"), *passes(rows, "SIZE")]:
        taken = members[1:-2]
        pairs = itertools.pairwise(taken)
        pairs_of_evictions += [
            (a, b) for a, b in pairs if a["op"] == b["op"] == "EVICT" and a["size_bytes"] and b["size_bytes"]
        ]
    return chance.choice(pairs_of_evictions)


def wrong_order(rows: list[Row], chance: random.Random) -> Expected:
    """Two neighbours leave in the wrong order, and their tickets say so."""
    first, second = _neighbours(rows, chance)
    for name in ENTRY_COLUMNS:
        first[name], second[name] = second[name], first[name]
    resum(rows)
    return "R-EVICT-8", first["seq"]


def wrong_order_hidden(rows: list[Row], chance: random.Random) -> Expected:
    """Two neighbours leave in the wrong order, and forged tickets deny it."""
    expected = wrong_order(rows, chance)
    first = next(row for row in rows if row["seq"] == expected[1])
    second = next(row for row in rows if row["seq"] == expected[1] + 1)
    first["ticket"], second["ticket"] = second["ticket"], first["ticket"]
    return expected


def wrong_tickets(rows: list[Row], chance: random.Random) -> Expected:
    """Only the tickets of two neighbours are exchanged."""
    first, second = _neighbours(rows, chance)
    first["ticket"], second["ticket"] = second["ticket"], first["ticket"]
    return "R-EVICT-8", first["seq"]


def wrong_ticket(rows: list[Row], chance: random.Random) -> Expected:
    """One ticket is not that of the entry's slot."""
    row = pick(rows, chance, lambda row: row["op"] == "EVICT")
    row["ticket"] += chance.choice((-1, 1, 5))
    return "R-EVICT-8", row["seq"]


def jumped_slot(rows: list[Row], chance: random.Random) -> Expected:
    """An entry leaves two turns too late; the first that passes over it is wrong, the next is not."""
    for _ in range(200):
        members = chance.choice([*passes(rows, "TIME"), *passes(rows, "SIZE")])[1:-2]
        runs = [members[i : i + 3] for i in range(len(members) - 2)]
        runs = [run for run in runs if all(row["op"] == "EVICT" and row["size_bytes"] for row in run)]
        if runs:
            a, b, c = chance.choice(runs)
            for name in ENTRY_COLUMNS:
                a[name], b[name], c[name] = b[name], c[name], a[name]
            resum(rows)
            return "R-EVICT-8", a["seq"]
    raise AssertionError("no run of three evictions")


def early_stop(rows: list[Row], chance: random.Random) -> Expected:
    """A size pass ends at a live head although it has not freed its amount."""
    members = chance.choice([m for m in passes(rows, "SIZE") if m[-1]["stamp_ns"] is not None])
    more = 1 - members[-1]["bound"]
    for row in members:
        row["bound"] += more
    return "R-EVICT-4", members[-1]["seq"]


def overshoot(rows: list[Row], chance: random.Random) -> Expected:
    """A size pass removes one entry more than it needs."""
    fit = []
    for members in passes(rows, "SIZE"):
        bounds = [row["bound"] for row in members if row["op"] == "EVICT"]
        if len(bounds) > 1 and bounds[-2] > bounds[-1]:
            fit.append(members)
    members = chance.choice(fit)
    last = [row for row in members if row["op"] == "EVICT"][-1]
    less = last["bound"]
    for row in members:
        row["bound"] -= less
    return "R-EVICT-5", last["seq"]


def early_expiry(rows: list[Row], chance: random.Random) -> Expected:
    """An entry exactly as old as the cutoff is removed, or put back, by a time pass."""
    times = {row["seq"] for row in rows if row["op"] == "PASS_BEGIN" and row["cause"] == "TIME"}
    row = pick(rows, chance, lambda row: row["pass_id"] in times and row["op"] in ("EVICT", "REQUEUE"))
    row["stamp_ns"] = row["bound"] + chance.choice((0, 1, 1000))
    return "R-EXPIRE-1", row["seq"]


def stale_head(rows: list[Row], chance: random.Random) -> Expected:
    """A time pass leaves an expired entry at the head."""
    row = pick(rows, chance, lambda row: row["op"] == "PASS_END" and row["cause"] == "TIME")
    row["stamp_ns"] = row["bound"] - 1
    return "R-EXPIRE-2", row["seq"]


def untouched_requeue(rows: list[Row], chance: random.Random) -> Expected:
    """An entry that nobody accessed is put back for access."""
    row = pick(rows, chance, lambda row: row["op"] == "REQUEUE" and row["cause"] == "ACCESSED")
    row["accessed"] = False
    return "R-REQUEUE-1", row["seq"]


def requeue_without_the_setting(rows: list[Row], chance: random.Random) -> Expected:
    """An accessed entry is put back for access though the setting is off."""
    row = pick(rows, chance, lambda row: row["op"] == "REQUEUE" and row["cause"] == "ACCESSED")
    row["extend_accessed"] = False
    return "R-REQUEUE-1", row["seq"]


def unexpected_requeue(rows: list[Row], chance: random.Random) -> Expected:
    """An entry that expects no read is put back for it."""
    row = pick(rows, chance, lambda row: row["op"] == "REQUEUE" and row["cause"] == "EXPECTED_READS")
    row["expected_reads"] = chance.choice((0, -1, None))
    return "R-REQUEUE-8", row["seq"]


def wrong_cause(rows: list[Row], chance: random.Random) -> Expected:
    """Both causes hold, and the second is stated."""
    row = pick(
        rows,
        chance,
        lambda row: row["op"] == "REQUEUE" and row["cause"] == "ACCESSED" and row["requeues"] <= row["max_requeues"],
    )
    row["cause"] = "EXPECTED_READS"
    row["expected_reads"] = 3
    return "R-REQUEUE-8", row["seq"]


def budget_exceeded(rows: list[Row], chance: random.Random) -> Expected:
    """A requeue for expected reads beyond the limit, by its own count."""
    row = pick(rows, chance, lambda row: row["op"] == "REQUEUE" and row["cause"] == "EXPECTED_READS")
    row["requeues"] = row["max_requeues"] + 1
    return "R-REQUEUE-6", row["seq"]


def budget_exceeded_hidden(rows: list[Row], chance: random.Random) -> Expected:
    """A requeue beyond the limit whose count is understated."""
    row = pick(
        rows,
        chance,
        lambda row: row["op"] == "REQUEUE" and row["cause"] == "EXPECTED_READS" and row["requeues"] == 2,
    )
    row["requeues"] = row["max_requeues"] = 1
    return "R-REQUEUE-6", row["seq"]


def wanted_entry_removed(rows: list[Row], chance: random.Random) -> Expected:
    """A pass removes an entry that was accessed."""
    row = pick(rows, chance, lambda row: row["op"] == "EVICT")
    row["accessed"] = True
    return "R-REQUEUE-3", row["seq"]


def expected_entry_removed(rows: list[Row], chance: random.Random) -> Expected:
    """A pass removes an entry that expects a read and has budget left, for once."""
    row = pick(rows, chance, lambda row: row["op"] == "EVICT" and row["requeues"] < row["max_requeues"])
    row["expected_reads"] = 1
    return "R-REQUEUE-3", row["seq"]


def wrong_sum(rows: list[Row], chance: random.Random) -> Expected:
    """One row's sum is wrong."""
    row = pick(rows, chance, lambda row: row["op"] not in ("CONFIG", "END"))
    row["bytes_after"] += chance.choice((-1, 7))
    return "R-STATE-1", row["seq"]


def drifting_sum(rows: list[Row], chance: random.Random) -> Expected:
    """From one row on all sums are wrong."""
    start = pick(rows, chance, lambda row: row["op"] in ("INSERT", "EVICT", "REMOVE"))
    shift(rows[rows.index(start) :], 5)
    return "R-STATE-1", start["seq"]


def wrong_size(rows: list[Row], chance: random.Random) -> Expected:
    """An entry leaves with another size than it came with, and the sum follows."""
    row = pick(rows, chance, lambda row: row["op"] == "REMOVE" or (row["op"] == "EVICT" and row["cause"] == "TIME"))
    row["size_bytes"] += 3
    shift(rows[rows.index(row) :], -3)
    return "R-STATE-1", row["seq"]


def double_removal(rows: list[Row], chance: random.Random) -> Expected:
    """An entry is removed again by a call."""
    gone = pick(rows[: len(rows) // 2], chance, lambda row: row["op"] in ("EVICT", "REMOVE"))
    row = pick(rows, chance, lambda row: row["op"] == "MISS" and row["seq"] > gone["seq"])
    for name in (*SHOWN_COLUMNS, "cache", "ledger_id", "entry_id"):
        row[name] = gone[name]
    row["op"], row["cause"] = "REMOVE", "RANGE"
    shift(rows[rows.index(row) :], -gone["size_bytes"], -1)
    return "R-STATE-8", row["seq"]


def hit_after_removal(rows: list[Row], chance: random.Random) -> Expected:
    """An entry is found that has left."""
    gone = pick(rows[: len(rows) // 2], chance, lambda row: row["op"] in ("EVICT", "REMOVE"))
    row = pick(rows, chance, lambda row: row["op"] == "MISS" and row["seq"] > gone["seq"])
    for name in ("life", "size_bytes", "cache", "ledger_id", "entry_id", "requeues", "accessed", "stamp_ns"):
        row[name] = gone[name]
    row["op"] = "HIT"
    return "R-STATE-8", row["seq"]


def unborn_life(rows: list[Row], chance: random.Random) -> Expected:
    """An entry is found that never came."""
    never = pick(rows[: len(rows) // 2], chance, lambda row: row["op"] == "MISS")
    row = pick(rows, chance, lambda row: row["op"] == "HIT" and row["seq"] > never["seq"])
    row["life"] = never["seq"]
    return "R-STATE-8", row["seq"]


PLANTS: tuple[Plant, ...] = (
    *(wrong_order, wrong_order_hidden, wrong_tickets, wrong_ticket, jumped_slot, early_stop, overshoot),
    *(early_expiry, stale_head, untouched_requeue, unexpected_requeue, wrong_cause, budget_exceeded),
    *(budget_exceeded_hidden, wanted_entry_removed, wrong_sum, drifting_sum, wrong_size, double_removal),
    *(hit_after_removal, unborn_life, requeue_without_the_setting, expected_entry_removed),
)

ALSO = {
    budget_exceeded_hidden: ("R-CONFIG-1", "R-REQUEUE-5"),
    budget_exceeded: ("R-REQUEUE-5",),
    stale_head: ("R-STATE-2",),
    untouched_requeue: ("R-READ-2",),
    wanted_entry_removed: ("R-READ-2",),
    requeue_without_the_setting: ("R-CONFIG-1",),
    expected_entry_removed: ("R-COUNT-3",),
    hit_after_removal: ("R-READ-1",),
    unborn_life: ("R-READ-1",),
}
"""The other rules that a seeded violation breaks by the same event."""


def seed_violation(make: Plant, rows: list[Row], seed: int) -> list[Expected]:
    """Seed a violation, and return all violations to find."""
    counts = {row["seq"]: row["expected_reads"] for row in rows}
    rule, seq = make(rows, random.Random(seed))
    expected = [(rule, seq), *((other, seq) for other in ALSO.get(make, ()))]
    if make is early_expiry:
        expected.append((stamped_by(rows, seq), seq))
        expected += [("R-STATE-2", row["seq"]) for row in [before(rows, seq)] if row["op"] == "PASS_END"]
    if make in {unexpected_requeue, wrong_cause}:
        now = next(row["expected_reads"] for row in rows if row["seq"] == seq)
        expected += [("R-COUNT-3", seq)] if now not in {None, counts[seq]} else []
    if make is double_removal:  # the last snapshot cannot agree with the rows
        expected.append(("R-STATE-2", rows[-1]["seq"]))
    return expected


def stamped_by(rows: list[Row], seq: int) -> str:
    """Return the rule for the stamp of an entry at an event; it depends on the event that gave the stamp."""
    row = next(row for row in rows if row["seq"] == seq)
    gives = [each["op"] for each in rows if each["life"] == row["life"] and each["seq"] < seq and each["op"] in GIVES]
    return "R-REQUEUE-4" if gives[-1] == "REQUEUE" else "R-INSERT-1"


def before(rows: list[Row], seq: int) -> Row:
    """Return the last row before an event that moved the queue, except INSERT."""
    return [row for row in rows if row["seq"] < seq and row["op"] in MOVES][-1]


MOVES = ("REQUEUE", "EVICT", "TOMBSTONE", "PASS_END", "SNAPSHOT", "REMOVE")
GIVES = ("INSERT", "REQUEUE", "SNAPSHOT")


def opened_midway(rows: list[Row], at: int) -> list[Row]:
    """Return the trace as a recorder would have written it that started at row `at`, outside a pass."""
    cut = next(i for i in range(at, len(rows)) if rows[i]["op"] in ("INSERT", "MISS") and rows[i]["call_id"] == i)
    before, after = rows[:cut], rows[cut:]
    taken = sum(row["op"] in ("EVICT", "REQUEUE", "TOMBSTONE") for row in before)
    held = {row["tail_no"]: row for row in before if row["op"] in ("INSERT", "REQUEUE") and row["tail_no"] >= taken}
    gone = {row["life"] for row in before if row["op"] in ("EVICT", "REMOVE")}
    shift = 1 + len(held) - cut
    hits = {row["life"]: row["seq"] for row in before if row["op"] == "HIT"}
    counts = {row["life"]: row["expected_reads"] for row in before if row["op"] in ("INSERT", "READ_DONE", "EXPECT")}
    lives: dict[int, int] = {}
    opened = [{**rows[0], "bytes_after": before[-1]["bytes_after"]}]
    for number, row in sorted(held.items()):
        life = None if row["life"] in gone else taken - number - 1
        if life is not None:
            lives[row["life"]] = life
        row = {**row, "expected_reads": counts[row["life"]], "stamp_ns": row["new_stamp_ns"]}
        row["accessed"] = hits.get(row["life"], -1) > row["seq"]
        kept = ("broker", "cache", "ledger_id", "entry_id", *SHOWN_COLUMNS[1:])
        opened.append(
            {
                **dict.fromkeys(row),
                **({name: row[name] for name in kept} if life is not None else {"broker": row["broker"]}),
                **{"op": "SNAPSHOT", "cause": "OPEN", "life": life, "tail_no": number - taken, "seq": len(opened)},
                **{"ts_ns": before[-1]["ts_ns"], "bytes_after": before[-1]["bytes_after"]},
            }
        )
    for row in after:
        moved = {**row, "seq": row["seq"] + shift, "call_id": row["call_id"] + shift}
        if row["pass_id"] is not None:
            moved["pass_id"] = row["pass_id"] + shift
        if row["life"] is not None:
            moved["life"] = lives.get(row["life"], row["life"] + shift)
        for name in ("tail_no", "head_no", "ticket"):
            moved[name] = None if row[name] is None else row[name] - taken
        opened.append(moved)
    return opened
