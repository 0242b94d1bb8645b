"""Scenarios of the state of a life from event to event, and of the end of a trace."""

from __future__ import annotations

import json

from tests.support.traces.scenarios.scenario import SMALL, Violations, at, scenario, wrong
from tests.support.traces.script import MILLI, Place, Row, Script


def requeue(s: Script, place: Place, cause: str = "ACCESSED", **columns: object) -> Row:
    """A size pass that frees nothing but puts its first entry back; the REQUEUE row."""
    s.call()
    begin = s.begin("SIZE", "CALL", 5)
    slot = next(slot for slot in s.queue if slot[0] == place)
    s.queue.remove(slot)
    entry = slot[1]
    row = s.at("REQUEUE", place, cause=cause, bound=5, pass_id=begin["pass_id"], ticket=entry["tail_no"])
    row |= {"head_no": s.head_no, "tail_no": s.tail_no, "requeues": entry["requeues"] + 1, "new_stamp_ns": s.now}
    row |= {"max_requeues": 5, "extend_accessed": s.config["extend_recently_accessed"], **columns}
    s.head_no += 1
    s.tail_no += 1
    entry |= {
        "requeues": row["requeues"],
        "accessed": False,
        "stamp_ns": row["new_stamp_ns"],
        "tail_no": row["tail_no"],
    }
    s.queue.append(slot)
    taken = s.take(begin, 5)
    s.end_pass(begin, 5 - taken)
    return row


def two(s: Script, count: int | None = None) -> None:
    """Two entries; the first one has been hit."""
    s.offer(at(0), 10, count)
    s.offer(at(1), 10)
    s.call().get(at(0))
    s.now += MILLI


@scenario(extend_recently_accessed=True)
def requeue_keeps_its_stamp(s: Script, violating: bool) -> Violations:
    """A requeued entry is stamped with the present time."""
    two(s)
    kept = s.cached[at(0)]["stamp_ns"]
    row = requeue(s, at(0), **({"new_stamp_ns": kept} if violating else {}))
    return wrong(violating, ("R-REQUEUE-4", row))


@scenario(threads="many", extend_recently_accessed=True)
def requeue_keeps_its_stamp_beside_other_threads(s: Script, violating: bool) -> Violations:
    """The stamp of a requeue is that of its own thread, so it is of the present with several threads too."""
    two(s)
    row = requeue(s, at(0), new_stamp_ns=s.cached[at(0)]["stamp_ns"] if violating else s.now)
    return wrong(violating, ("R-REQUEUE-4", row))


@scenario(extend_recently_accessed=True)
def stamp_of_a_requeue_is_forgotten(s: Script, violating: bool) -> Violations:
    """A later event shows the stamp that the requeue gave."""
    two(s)
    requeue(s, at(0))
    row = s.call().get(at(0), **({"stamp_ns": s.now - MILLI} if violating else {}))
    return wrong(violating, ("R-REQUEUE-4", row))


@scenario()
def insert_with_a_stamp_of_the_past(s: Script, violating: bool) -> Violations:
    """An added entry is stamped with the present time."""
    row = s.offer(at(0))
    if violating:
        row["new_stamp_ns"] -= MILLI
        s.cached[at(0)]["stamp_ns"] -= MILLI
    return wrong(violating, ("R-INSERT-1", row))


@scenario()
def removal_before_its_time(s: Script, violating: bool) -> Violations:
    """A stamp that lies lets an entry expire too early."""
    s.offer(at(0))
    s.now += MILLI
    if violating:
        s.cached[at(0)]["stamp_ns"] -= 2 * MILLI
    s.call().time_pass(s.now - (2 * MILLI if violating else 0))
    row = next(row for row in s.rows if row["op"] == "EVICT")
    return wrong(violating, ("R-INSERT-1", row))


@scenario(extend_recently_accessed=True)
def requeue_counts_twice(s: Script, violating: bool) -> Violations:
    """A requeue raises the count by 1."""
    two(s)
    row = requeue(s, at(0), **({"requeues": 2} if violating else {}))
    return wrong(violating, ("R-REQUEUE-5", row))


@scenario(extend_recently_accessed=True)
def requeue_without_a_hit(s: Script, violating: bool) -> Violations:
    """A mark comes from a hit."""
    s.offer(at(0))
    s.offer(at(1))
    if not violating:
        s.call().get(at(0))
    s.cached[at(0)]["accessed"] = True
    row = requeue(s, at(0))
    return wrong(violating, ("R-READ-2", row))


@scenario(threads="many")
def mark_is_forgotten(s: Script, violating: bool) -> Violations:
    """A hit marks its entry, with several threads too."""
    two(s)
    s.cached[at(0)]["accessed"] = not violating
    s.call().time_pass(s.now)
    row = next(row for row in s.rows if row["op"] == "EVICT")
    return wrong(violating, ("R-READ-2", row))


@scenario(**SMALL)
def counter_drifts(s: Script, violating: bool) -> Violations:
    """The manager's own bytes may lag behind within a call, not between calls."""
    s.offer(at(0))
    s.call()
    row = s.insert(at(1))
    row["manager_bytes"] -= 10
    if not violating:
        s.get(at(1))
    s.call().get(at(0))
    return wrong(violating, ("R-STATE-1", row))


@scenario(**SMALL)
def counter_strays_within_a_call(s: Script, violating: bool) -> Violations:
    """While it lags behind, the manager's own counter is the sum as it was."""
    for entry in range(4):
        s.offer(at(entry))
    s.call().size_pass(20)
    rows = [row for row in s.rows if row["op"] == "EVICT"]
    for row in rows:
        row["manager_bytes"] = 40
    rows[0]["manager_bytes"] += int(violating)
    return wrong(violating, ("R-STATE-1", rows[0]))


@scenario(threads="many")
def counter_drifts_for_good(s: Script, violating: bool) -> Violations:
    """With several threads the manager's own bytes equal the sum at the end."""
    s.offer(at(0))["manager_bytes"] = 0
    s.finish()
    if violating:
        s.rows[-1]["manager_bytes"] += 1
    return wrong(violating, ("R-STATE-1", s.rows[-1]))


@scenario()
def end_lies(s: Script, violating: bool) -> Violations:
    """END shows the totals that are left."""
    s.offer(at(0))
    s.finish()
    counters = json.loads(s.rows[-1]["value"])
    for name in counters if violating else ():
        counters[name] += 1
    s.rows[-1]["value"] = json.dumps(counters)
    return wrong(violating, ("R-STATE-1", s.rows[-1]), ("R-STATE-2", s.rows[-1]))


@scenario()
def snapshot_lacks_an_entry(s: Script, violating: bool) -> Violations:
    """The last snapshot shows every slot."""
    for entry in range(3):
        s.offer(at(entry))
    del s.queue[1 : 1 + violating]
    s.finish()
    s.rows[-1]["value"] = json.dumps({"entries": 3, "bytes": 30, "slots": 3})
    return wrong(violating, ("R-STATE-2", s.rows[-1]))


@scenario()
def snapshot_of_another_slot(s: Script, violating: bool) -> Violations:
    """A snapshot repeats the number of the slot."""
    s.offer(at(0))
    s.offer(at(1))
    s.queue[0][1]["tail_no"] += 5 * violating
    s.finish()
    row = next(row for row in s.rows if row["op"] == "SNAPSHOT")
    return wrong(violating, ("R-STATE-2", row))


@scenario(threads="many")
def removal_names_another_place(s: Script, violating: bool) -> Violations:
    """A life keeps its cache and position."""
    s.offer(at(0))
    s.offer(at(0, cache="b"))
    s.call().size_pass(5)
    row = next(row for row in s.rows if row["op"] == "EVICT")
    if violating:
        row["cache"] = "b"
    return wrong(violating, ("R-STATE-2", row))


@scenario()
def an_event_shows_another_size(s: Script, violating: bool) -> Violations:
    """An entry has one size."""
    s.offer(at(0))
    row = s.call().get(at(0), size_bytes=10 + violating)
    return wrong(violating, ("R-STATE-2", row))


@scenario()
def counts_are_swapped_in_time(s: Script, violating: bool) -> Violations:
    """Counts that add up may come in the wrong order."""
    s.offer(at(0), 10, 3)
    rows = [s.call().done(at(0)) for _ in range(2)]
    first, second = rows
    assert first is not None
    assert second is not None
    if violating:
        first["expected_reads"], second["expected_reads"] = 1, 2
    return wrong(violating, ("R-COUNT-1", first), ("R-COUNT-1", second))


@scenario()
def a_row_of_a_pass_says_another_amount(s: Script, violating: bool) -> Violations:
    """Each row of a size pass shows the bytes that are left to free."""
    for entry in range(4):
        s.offer(at(entry))
    s.call().size_pass(30)
    first, second = [row for row in s.rows if row["op"] == "EVICT"][:2]
    if violating:
        first["bound"], second["bound"] = second["bound"], first["bound"]
    return wrong(violating, ("R-EVICT-5", first), ("R-EVICT-5", second))


@scenario()
def a_row_of_a_pass_says_another_cutoff(s: Script, violating: bool) -> Violations:
    """A time pass has one cutoff."""
    s.offer(at(0))
    s.now += MILLI
    s.call().time_pass(s.now)
    row = next(row for row in s.rows if row["op"] == "EVICT")
    row["bound"] -= int(violating)
    return wrong(violating, ("R-EXPIRE-1", row))


@scenario()
def passes_are_swapped(s: Script, violating: bool) -> Violations:
    """Witnesses that agree with one another do not make a later pass an earlier one."""
    for entry in range(4):
        s.offer(at(entry))
    if violating:
        s.queue[0:2], s.queue[2:4] = s.queue[2:4], s.queue[0:2]
    s.head_no = 2 * violating
    s.call().size_pass(20)
    s.head_no = 0 if violating else 2
    s.call().size_pass(20)
    row, other = (row for row in s.rows if row["op"] == "EVICT" and row["head_no"] in (0, 2))
    return wrong(violating, ("R-EVICT-8", row), ("R-STATE-2", row), ("R-STATE-2", other))
