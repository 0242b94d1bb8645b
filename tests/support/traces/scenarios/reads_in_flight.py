"""Scenarios of reads that overlap in time: asks, answers, deliveries and permits."""

from __future__ import annotations

from typing import Any

from tests.support.traces import plant
from tests.support.traces.scenarios.scenario import Violations, at, scenario, wrong
from tests.support.traces.script import MILLI, Script


def begin(s: Script, cursor: str = "c") -> int:
    """Write the begin of a read, and return its id."""
    s.call().open("a")
    seq = len(s.rows)
    s.row("READ_BEGIN", cache="a", cursor=cursor, read_id=seq)
    return seq


def end(s: Script, read: int, cause: str = "DONE") -> plant.Row:
    """Write the end of a read."""
    return s.row("READ_END", cause=cause, cache="a", read_id=read)


def ask(s: Script, read: int, first: int, last: int, **columns: Any) -> plant.Row:
    """Write an ask for entries of ledger 1."""
    where = {"cache": "a", "ledger_id": 1, "entry_id": first, "last_entry_id": last, "cursor": "c"}
    return s.row("ASK", **{**where, "ask_id": len(s.rows), "read_id": read, **columns})


def answer(s: Script, sent: plant.Row, cause: str = "ALL", **columns: Any) -> plant.Row:
    """Write the answer to an ask in a call of its own, with a miss for each entry that it brings."""
    names = ("cache", "ledger_id", "entry_id", "last_entry_id", "ask_id")
    row = s.call().row("ANSWER", cause=cause, **{**{name: sent[name] for name in names}, **columns})
    brought = row["last_entry_id"] if cause in ("ALL", "SHORT") else row["entry_id"] - 1
    for entry in range(row["entry_id"], brought + 1):
        s.row("MISS", cause="READ", cache="a", ledger_id=1, entry_id=entry, size_bytes=7, ask_id=row["ask_id"])
        s.counts["miss_entries"] += 1
        s.counts["miss_bytes"] += 7
    return row


def fill(s: Script, sent: plant.Row, entry: int, count: int = 0, **columns: Any) -> plant.Row:
    """Write a fill that an answer makes."""
    return s.insert(at(entry), 10, count or 1, **{"cause": "FILL", "cursor": None, "ask_id": sent["ask_id"], **columns})


def permit(s: Script, cause: str, permits: int, **columns: Any) -> plant.Row:
    """Write a PERMIT in the present call."""
    return s.row("PERMIT", cause=cause, permits=permits, **columns)


@scenario()
def answered_twice(s: Script, violating: bool) -> Violations:
    """Storage answers each ask once."""
    read = begin(s)
    sent = ask(s, read, 0, 3)
    answer(s, sent)
    if not violating:
        sent = ask(s, read, 0, 3)
    again = answer(s, sent)
    end(s, read)
    return wrong(violating, ("R-INFLIGHT-1", again))


@scenario()
def answered_elsewhere(s: Script, violating: bool) -> Violations:
    """An answer is about the range of its ask; a short one brings a part of it, and a failed one names all of it."""
    read = begin(s)
    whole = answer(s, ask(s, read, 0, 3), last_entry_id=2 if violating else 3)
    failed = answer(s, ask(s, read, 0, 3), "FAIL", entry_id=1 if violating else 0)
    short = answer(s, ask(s, read, 0, 3), "SHORT", last_entry_id=3 if violating else 1)
    end(s, read)
    return wrong(violating, *(("R-INFLIGHT-1", row) for row in (whole, failed, short)))


@scenario()
def answered_unasked(s: Script, violating: bool) -> Violations:
    """Nothing is answered that was not sent for."""
    read = begin(s)
    sent = ask(s, read, 0, 3)
    row = answer(s, sent, ask_id=99 if violating else sent["ask_id"])
    if violating:
        answer(s, sent)
    end(s, read)
    return wrong(violating, ("R-INFLIGHT-1", row))


@scenario()
def asked_while_joinable(s: Script, violating: bool) -> Violations:
    """An entry is sent for once until the ask is answered or its ledger fails; other ledgers do not matter."""
    read = begin(s)
    first = ask(s, read, 0, 3)
    other = ask(s, read, 0, 3, ledger_id=2)
    failing = ask(s, read, 8, 9)
    if not violating:
        answer(s, failing, "FAIL")
    second = ask(s, read, 3, 5)
    answer(s, other, "BUSY")
    third = ask(s, read, 0, 3, ledger_id=2)
    for sent in (first, second, third, *([failing] if violating else [])):
        answer(s, sent)
    end(s, read, "FAILED")
    return wrong(violating, ("R-INFLIGHT-2", second))


@scenario(max_size_bytes=0)
def asked_while_caching_is_off(s: Script, violating: bool) -> Violations:
    """While caching is off every read asks for itself."""
    read = begin(s)
    if violating:
        s.configure(max_size_bytes=1_000)
    first, second = ask(s, read, 0, 3), ask(s, read, 0, 3)
    answer(s, first)
    answer(s, second)
    end(s, read)
    return wrong(violating, ("R-INFLIGHT-2", second))


@scenario()
def filled_with_what_was_not_brought(s: Script, violating: bool) -> Violations:
    """An answer brings the entries of its range; a short one brings those up to its last entry."""
    read = begin(s)
    sent = ask(s, read, 0, 3)
    answer(s, sent, "SHORT", last_entry_id=1)
    row = fill(s, sent, 2 if violating else 1)
    end(s, read)
    return wrong(violating, ("R-INFLIGHT-3", row), ("R-READ-9", row))


@scenario()
def filled_before_the_answer(s: Script, violating: bool) -> Violations:
    """A fill comes after the answer that brings it."""
    read = begin(s)
    sent = ask(s, read, 0, 3)
    if not violating:
        answer(s, sent)
    else:
        s.call().row("MISS", cause="READ", cache="a", ledger_id=1, entry_id=2)
    row = fill(s, sent, 2)
    if violating:
        answer(s, sent)
    end(s, read)
    return wrong(violating, ("R-INFLIGHT-3", row))


@scenario()
def filled_for_another_cursor(s: Script, violating: bool) -> Violations:
    """A fill is counted for the cursor that sent."""
    s.cursor("ADD", "a", "c", (1, 0))
    s.cursor("ADD", "a", "d", (1, 0))
    read = begin(s)
    sent = ask(s, read, 0, 0)
    answer(s, sent)
    row = fill(s, sent, 0, 2, cursor="d" if violating else "c")
    end(s, read)
    return wrong(violating, ("R-INFLIGHT-3", row))


@scenario()
def filled_with_two_counts(s: Script, violating: bool) -> Violations:
    """The count of an answer is sent for once, and its entries come in ascending order."""
    read = begin(s)
    sent = ask(s, read, 0, 3)
    answer(s, sent)
    fill(s, sent, 1, 2)
    row = fill(s, sent, 2, 3 if violating else 2)
    back = fill(s, sent, 0 if violating else 3, 2)
    end(s, read)
    return wrong(violating, ("R-LEDGER-6", row), ("R-LEDGER-6", back), ("R-READ-9", row), ("R-READ-9", back))


@scenario()
def delivered_twice(s: Script, violating: bool) -> Violations:
    """A read takes one from the count of an entry; each other read takes its own."""
    first, second = begin(s), begin(s)
    sent = ask(s, second, 0, 0)
    answer(s, sent)
    fill(s, sent, 0, 2)
    end(s, first)
    end(s, second)
    rows = []
    for read in (first, first if violating else second):
        row = s.call().done(at(0))
        assert row is not None
        row |= {"read_id": read, "ask_id": sent["ask_id"]}
        rows.append(row)
    return wrong(violating, ("R-INFLIGHT-4", rows[1]))


@scenario()
def delivered_though_not_brought(s: Script, violating: bool) -> Violations:
    """A read delivers what the answer brought."""
    s.offer(at(1), count=1)
    read = begin(s)
    sent = ask(s, read, 0, 0)
    answer(s, sent, "FAIL" if violating else "ALL")
    end(s, read, "FAILED" if violating else "DONE")
    row = s.call().row("READ_DONE", cause="DELIVERED", cache="a", ledger_id=1, entry_id=0, expected_reads=0)
    row["ask_id"] = sent["ask_id"]
    return wrong(violating, ("R-INFLIGHT-4", row))


@scenario()
def given_back_as_read(s: Script, violating: bool) -> Violations:
    """A read that fails takes nothing from a count."""
    s.offer(at(0), count=2)
    read = begin(s)
    sent = ask(s, read, 1, 1)
    answer(s, sent, "FAIL" if violating else "ALL")
    end(s, read, "FAILED" if violating else "DONE")
    row = s.call().done(at(0))
    assert row is not None
    row["read_id"] = read
    return wrong(violating, ("R-INFLIGHT-9", row))


@scenario()
def read_without_an_end(s: Script, violating: bool) -> Violations:
    """A read waits for an ask, or has ended."""
    read = begin(s)
    sent = ask(s, read, 0, 0)
    if violating:
        answer(s, sent)
    return wrong(violating, ("R-INFLIGHT-13", s.rows[read]))


@scenario()
def counted_for_another_number(s: Script, violating: bool) -> Violations:
    """An appended entry is counted for each active cursor of its ledger; a cache without reads may name any count."""
    end(s, begin(s))
    s.cursor("ADD", "a", "c", (1, 0))
    s.cursor("ADD", "a", "d", (1, 0))
    s.cursor("ADD", "b", "c", (1, 0))
    s.offer(at(0), count=2)
    s.cursor("REMOVE", "a", "d")
    row = s.offer(at(1), count=2 if violating else 1)
    s.call().open("b")
    s.insert(at(0, cache="b"), 10, 7)
    return wrong(violating, ("R-LEDGER-1", row))


@scenario(evict_by_expected_reads=False)
def dropped_above_the_slowest(s: Script, violating: bool) -> Violations:
    """A managed ledger drops what all active cursors have passed, and what lies at the slowest one stays."""
    end(s, begin(s))
    s.cursor("ADD", "a", "c", (1, 1))
    s.cursor("ADD", "a", "d", (1, 5))
    for entry in range(3):
        s.offer(at(entry))
    s.call().remove("CURSOR", at(0))
    if not violating:
        s.cursor("MOVE", "a", "c", (1, 2))
    row = s.call().remove("CURSOR", at(1))
    s.cursor("REMOVE", "a", "c")
    s.cursor("REMOVE", "a", "d")
    s.call().remove("CURSOR", at(2))
    return wrong(violating, ("R-LEDGER-14", row))


@scenario(evict_by_expected_reads=False, invalidation="manual")
def dropped_by_a_later_call(s: Script, violating: bool) -> Violations:
    """An invalidation that waited for a call drops what was due then, though a cursor has come since that reads it."""
    end(s, begin(s))
    s.cursor("ADD", "a", "c", (1, 3))
    for entry in range(3):
        s.offer(at(entry))
    s.cursor("ADD", "a", "d", (1, 0))
    s.call()
    row = s.remove("CURSOR", at(0), *(() if violating else (at(1),)), at(2))
    return wrong(violating, ("R-INVALIDATE-7", row))


@scenario(max_reads_in_flight_bytes=10, acquire_queue=2, acquire_timeout_millis=5)
def granted_out_of_turn(s: Script, violating: bool) -> Violations:
    """A request is granted at once only if nobody waits."""
    s.call()
    permit(s, "TAKEN", 8, bound=8)
    s.call()
    permit(s, "QUEUED", 3, tail_no=0)
    s.call()
    if not violating:
        permit(s, "GIVEN", 8)
        permit(s, "TAKEN", 3, bound=3, ticket=0)
    row = permit(s, "TAKEN", 1, bound=1)
    if violating:
        s.call()
        permit(s, "GIVEN", 8)
        permit(s, "TAKEN", 3, bound=3, ticket=0)
    return wrong(violating, ("R-LIMIT-2", row))


@scenario(max_reads_in_flight_bytes=10, acquire_queue=2, acquire_timeout_millis=5)
def made_to_wait_for_nothing(s: Script, violating: bool) -> Violations:
    """A request that fits does not wait; one above the limit fits if nothing is out."""
    s.call()
    if not violating:
        permit(s, "TAKEN", 1, bound=1)
    row = permit(s, "QUEUED", 12, tail_no=0)
    return wrong(violating, ("R-LIMIT-2", row))


@scenario(max_reads_in_flight_bytes=10, acquire_queue=2, acquire_timeout_millis=5)
def granted_another_amount(s: Script, violating: bool) -> Violations:
    """A request for more than the limit is granted the limit, any other what it asks for."""
    s.call()
    row = permit(s, "TAKEN", 9 if violating else 10, bound=12)
    return wrong(violating, ("R-LIMIT-3", row))


@scenario(max_reads_in_flight_bytes=10, acquire_queue=2, acquire_timeout_millis=5)
def refused_beside_a_free_place(s: Script, violating: bool) -> Violations:
    """A request is refused if the queue is full, and only then; else it waits at the tail."""
    s.call()
    permit(s, "TAKEN", 10, bound=10)
    permit(s, "QUEUED", 1, tail_no=0)
    early = permit(s, "REFUSED", 1) if violating else None
    permit(s, "QUEUED", 1, tail_no=1)
    late = permit(s, "QUEUED", 1, tail_no=2) if violating else permit(s, "REFUSED", 1)
    s.call()
    permit(s, "GIVEN", 10)
    for ticket in range(3 if violating else 2):
        permit(s, "TAKEN", 1, bound=1, ticket=ticket)
    return [] if early is None else wrong(violating, ("R-LIMIT-4", early), ("R-LIMIT-4", late))


@scenario(max_reads_in_flight_bytes=10, acquire_queue=2, acquire_timeout_millis=5)
def waits_behind_its_place(s: Script, violating: bool) -> Violations:
    """A request that waits gets the next place."""
    s.call()
    permit(s, "TAKEN", 10, bound=10)
    permit(s, "QUEUED", 1, tail_no=0)
    row = permit(s, "QUEUED", 1, tail_no=2 if violating else 1)
    return wrong(violating, ("R-LIMIT-4", row))


@scenario(max_reads_in_flight_bytes=10, acquire_queue=3, acquire_timeout_millis=5)
def served_past_the_head(s: Script, violating: bool) -> Violations:
    """The head is served first, and a head that fits is not left."""
    s.call()
    permit(s, "TAKEN", 10, bound=10)
    for place in (0, 1, 2):
        s.call()
        permit(s, "QUEUED", 4, tail_no=place)
    s.call()
    permit(s, "GIVEN", 10)
    first = permit(s, "TAKEN", 4, bound=4, ticket=1 if violating else 0)
    if not violating:
        permit(s, "TAKEN", 4, bound=4, ticket=1)
    return wrong(violating, ("R-LIMIT-5", first), ("R-LIMIT-5", first))


@scenario(max_reads_in_flight_bytes=10, acquire_queue=2, acquire_timeout_millis=5)
def left_though_it_fits(s: Script, violating: bool) -> Violations:
    """Permits that come back serve the head in the same call."""
    s.call()
    permit(s, "TAKEN", 10, bound=10)
    s.call()
    permit(s, "QUEUED", 4, tail_no=0)
    s.call()
    row = permit(s, "GIVEN", 10)
    if not violating:
        permit(s, "TAKEN", 4, bound=4, ticket=0)
    s.call()
    permit(s, "QUEUED", 8, tail_no=1)
    return wrong(violating, ("R-LIMIT-5", row))


def let_two_wait(s: Script) -> None:
    """Let a request wait that does not fit, and four milliseconds later one behind it that would."""
    s.call()
    permit(s, "TAKEN", 4, bound=4)
    permit(s, "QUEUED", 9, tail_no=0)
    s.now += 4 * MILLI
    permit(s, "QUEUED", 2, tail_no=1)


@scenario(max_reads_in_flight_bytes=10, acquire_queue=3, acquire_timeout_millis=5)
def refused_before_its_time(s: Script, violating: bool) -> Violations:
    """A request waits for the whole timeout; then the rest is served."""
    let_two_wait(s)
    s.now += MILLI - violating
    s.call()
    row = permit(s, "REFUSED", 9, ticket=0)
    permit(s, "TAKEN", 2, bound=2, ticket=1)
    return wrong(violating, ("R-LIMIT-6", row))


@scenario(max_reads_in_flight_bytes=10, acquire_queue=3, acquire_timeout_millis=5)
def served_by_no_timeout(s: Script, violating: bool) -> Violations:
    """A request that waited behind one that has failed is served at once."""
    let_two_wait(s)
    s.now += MILLI
    s.call()
    row = permit(s, "REFUSED", 9, ticket=0)
    if not violating:
        permit(s, "TAKEN", 2, bound=2, ticket=1)
    return wrong(violating, ("R-LIMIT-6", row))


@scenario(max_reads_in_flight_bytes=10, acquire_queue=2, acquire_timeout_millis=5)
def granted_more_than_is_free(s: Script, violating: bool) -> Violations:
    """No more is granted than is free, and no more comes back than is out."""
    s.call()
    permit(s, "TAKEN", 8, bound=8)
    row = permit(s, "TAKEN", 3 if violating else 2, bound=3 if violating else 2)
    back = permit(s, "GIVEN", 12 if violating else 8)
    return wrong(violating, ("R-LIMIT-7", row), ("R-LIMIT-7", back))


@scenario(max_reads_in_flight_bytes=10, acquire_queue=2, acquire_timeout_millis=5)
def given_back_in_part(s: Script, violating: bool) -> Violations:
    """Permits come back as they were granted, and to the read that has them."""
    reads = begin(s), begin(s, "d")
    for read in reads:
        permit(s, "TAKEN", 4, bound=4, read_id=read)
    part = permit(s, "GIVEN", 3 if violating else 4, read_id=reads[0])
    other = permit(s, "GIVEN", 4, read_id=reads[0 if violating else 1])
    again = permit(s, "GIVEN", 4, read_id=reads[0]) if violating else other
    for read in reads:
        end(s, read)
    return wrong(violating, ("R-LIMIT-7", part), ("R-LIMIT-7", again))


@scenario(max_reads_in_flight_bytes=10, acquire_queue=2, acquire_timeout_millis=5)
def served_another_request(s: Script, violating: bool) -> Violations:
    """A request is served with what it asked for when it was queued, and only one that waits has a place."""
    s.call()
    permit(s, "TAKEN", 10, bound=10)
    s.call()
    queued = permit(s, "QUEUED", 3, bound=2 if violating else 3, tail_no=0)
    s.call()
    given = permit(s, "GIVEN", 10, tail_no=7 if violating else None)
    row = permit(s, "TAKEN", 2 if violating else 3, bound=2 if violating else 3, ticket=0)
    return wrong(violating, ("R-LIMIT-4", queued), ("R-LIMIT-4", given), ("R-LIMIT-5", row))


@scenario(max_reads_in_flight_bytes=10, acquire_queue=2, acquire_timeout_millis=5)
def read_without_permits(s: Script, violating: bool) -> Violations:
    """A read takes permits before it asks, and has them until it has released all or failed."""
    read = begin(s)
    permit(s, "TAKEN", 4, bound=4, read_id=read)
    if violating:
        permit(s, "GIVEN", 4, read_id=read)
    sent = ask(s, read, 0, 0)
    answer(s, sent)
    fill(s, sent, 0, 2)
    end(s, read)
    done = s.call().done(at(0))
    assert done is not None
    done |= {"read_id": read, "ask_id": sent["ask_id"]}
    failing = begin(s)
    permit(s, "TAKEN", 4, bound=4, read_id=failing)
    answer(s, ask(s, failing, 5, 5), "FAIL")
    if not violating:
        permit(s, "GIVEN", 4, read_id=failing)
    failed = end(s, failing, "FAILED")
    return wrong(violating, ("R-LIMIT-1", sent), ("R-LIMIT-5", done), ("R-LIMIT-5", failed))


@scenario()
def failed_for_nothing(s: Script, violating: bool) -> Violations:
    """A read fails if its first ask does, and for no other reason."""
    read = begin(s)
    answer(s, ask(s, read, 0, 0), "ALL" if violating else "BUSY")
    failed = end(s, read, "FAILED")
    other = begin(s)
    answer(s, ask(s, other, 1, 1), "FAIL")
    done = end(s, other, "DONE" if violating else "FAILED")
    return wrong(violating, ("R-INFLIGHT-10", failed), ("R-INFLIGHT-10", done))


@scenario()
def missed_more_than_was_brought(s: Script, violating: bool) -> Violations:
    """An answer brings each of its entries once."""
    read = begin(s)
    sent = ask(s, read, 0, 1)
    row = answer(s, sent)
    if violating:
        s.row("MISS", cause="READ", cache="a", ledger_id=1, entry_id=2, size_bytes=7, ask_id=sent["ask_id"])
        s.counts["miss_entries"] += 1
        s.counts["miss_bytes"] += 7
    end(s, read)
    return wrong(violating, ("R-INFLIGHT-3", row))


@scenario()
def kept_after_the_deletion(s: Script, violating: bool) -> Violations:
    """A deleted ledger loses its entries by the deletion, and nothing else drops a whole ledger."""
    end(s, begin(s))
    s.offer(at(0))
    s.offer(at(0, ledger=2))
    s.call()
    s.row("LEDGER_DELETE", cache="a", ledger_id=3 if violating else 1)
    gone = s.remove("LEDGER", at(0))
    s.call()
    s.row("LEDGER_DELETE", cache="a", ledger_id=2)
    s.remove("LEDGER", at(0, ledger=2))
    last = s.offer(at(1, ledger=2 if violating else 3))
    return wrong(violating, ("R-LEDGER-17", gone), ("R-LEDGER-17", last))
