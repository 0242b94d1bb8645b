"""Replay of the removal queue, of slot numbers, of calls that remove entries, and of expected-read counts.

`RemovalQueue` follows the slots of a broker by their numbers, or by the order of the events where a trace has none.
`Slots` holds the ends of the queue to the numbers that rows show. `RemovalChecks` judges a call that removes entries at
its last row, and `ReadCountChecks` follows the count of each life. Each check takes the events of a broker in order.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Any, Final, NamedTuple

from entrycache_spark.replay.common import differ
from entrycache_spark.replay.pulsar_pip430.trigger_points import Facts, Moment, Reporter, Row, is_open

QueueRow = dict[str, Any]

PASSED, LATER_SLOT, EARLIER_SLOT, NUMBER = 1, 2, 3, 4
"""The kinds of findings: an older slot is passed over, a ticket differs from the entry's (later or earlier), or a
head_no is out of line."""

ENQUEUES: Final = ("INSERT", "REQUEUE", "SNAPSHOT")


class Finding(NamedTuple):
    """One dequeue that is wrong."""

    place: int
    seq: int
    life: int | None
    text: str


@dataclass
class HeldSlot:
    """A slot in the queue, and the first dequeue that passed over it although it may have left unseen."""

    number: int
    life: int
    island: int
    passed: bool = False
    suspect: Finding | None = None


class RemovalQueue:
    """The slots of one broker, by number where the trace gives numbers, else by the order of the events."""

    def __init__(self, numbered: bool) -> None:
        self._numbered = numbered
        self._held: dict[int, HeldSlot] = {}
        self._unpassed: list[int] = []
        self._left: set[int] = set()
        self._of_life: dict[int, HeldSlot] = {}
        self._op_before: dict[int, str] = {}
        self._findings: list[Finding] = []
        self._numbers: list[tuple[int, int | None, int, int]] = []
        self._unlinked = False

    def __len__(self) -> int:
        return len(self._held)

    def follow(self, row: QueueRow, island: int) -> None:
        """Read one event."""
        op, seq, life = row["op"], row["seq"], row["life"]
        if op == "SNAPSHOT" and row["cause"] != "OPEN":
            return
        if op not in ("INSERT", "SNAPSHOT", "REQUEUE", "EVICT", "REMOVE", "TOMBSTONE"):
            return
        self._unlinked |= op == "REMOVE" and row["ticket"] is not None
        if op == "TOMBSTONE" and self._numbered:
            self._held.pop(row["ticket"], None)
            self._left.add(row["ticket"])
            self._pass_over(row["ticket"], Finding(PASSED, seq, life, "TOMBSTONE of a younger slot"), island)
        if life is None:
            return
        before = self._op_before.get(life)
        self._op_before[life] = op
        if op in ("EVICT", "REQUEUE", "REMOVE", "TOMBSTONE"):
            self._leave(row, before, island)
        if self._numbered and op in ("EVICT", "REQUEUE", "TOMBSTONE") and before in (*ENQUEUES, "REMOVE"):
            self._numbers.append((seq, life, row["ticket"], row["head_no"]))
        if op in ENQUEUES:
            number = row["tail_no"] if self._numbered and row["tail_no"] is not None else seq
            slot = HeldSlot(number, life, island)
            self._move(life, slot)
            if number not in self._left:  # a number given twice has left when its first holder has
                self._held[number] = slot
                heappush(self._unpassed, number)

    def _move(self, life: int, slot: HeldSlot) -> None:
        """Give a life its slot; one that it still held (two INSERT rows name it) is given up."""
        before = self._of_life.get(life)
        self._of_life[life] = slot
        if before is not None and before.island == slot.island and self._held.get(before.number) is before:
            del self._held[before.number]
            self._left.add(before.number)

    def _leave(self, row: QueueRow, before: str | None, island: int) -> None:
        slot = self._of_life.pop(row["life"], None)
        if slot is None or before not in ENQUEUES:
            return
        sure = slot.island == island or (self._numbered and row["ticket"] == slot.number)
        if sure or self._held.get(slot.number) is slot:
            self._held.pop(slot.number, None)
            self._left.add(slot.number)
        if sure and slot.suspect is not None:
            self._findings.append(slot.suspect)
        if row["op"] in ("REMOVE", "TOMBSTONE"):
            return
        seq, life, ticket = row["seq"], row["life"], row["ticket"]
        if self._numbered and slot.island == island and ticket != slot.number:
            place = LATER_SLOT if ticket > slot.number else EARLIER_SLOT
            self._findings.append(Finding(place, seq, life, f"ticket {ticket} of slot {slot.number}"))
        if sure:
            self._pass_over(slot.number, Finding(PASSED, seq, life, f"{row['op']} of a younger slot"), island)

    def _pass_over(self, number: int, finding: Finding, island: int) -> None:
        while self._unpassed and self._unpassed[0] < number:
            slot = self._held.get(heappop(self._unpassed))
            if slot is not None and not slot.passed:
                slot.passed = True
                if slot.island == island:
                    self._findings.append(finding)
                else:
                    slot.suspect = finding

    def findings(self, whole: bool) -> list[Finding]:
        """The wrong dequeues of the most telling kind."""
        all_findings = self._findings + (self._out_of_line() if whole and not self._unlinked else [])
        first = min((item.place for item in all_findings), default=0)
        return sorted({item for item in all_findings if item.place == first}, key=lambda item: item.seq)

    def _out_of_line(self) -> list[Finding]:
        ahead = [ticket - head_no for _, _, ticket, head_no in self._numbers]
        findings = []
        for at, (seq, life, _, head_no) in enumerate(self._numbers):
            before = ahead[at - 1] if at else 0
            after = ahead[at + 1] if at + 1 < len(ahead) else before
            if ahead[at] != before and after == before:
                findings.append(Finding(NUMBER, seq, life, f"head_no {head_no}"))
        return findings


# ---------- slots

TAKES: Final = ("EVICT", "REQUEUE", "TOMBSTONE")
OF_SLOTS: Final = ("INSERT", *TAKES, "PASS_END", "SNAPSHOT", "REMOVE")
SHOWS_HEAD: Final = ("EVICT", "REQUEUE", "SNAPSHOT", "PASS_END")


class Side:
    """One end of the queue: the number of slots by the rows, and the number that a row showed last."""

    def __init__(self) -> None:
        self.count = 0
        self.last_number: int | None = None

    def is_wrong(self, number: int | None, whole: bool, numbered: bool) -> bool:
        """Return whether a number agrees neither with the rows nor with the number shown last."""
        if number is None or not (whole or numbered) or (whole and number == self.count):
            return False
        return number != self.last_number if self.last_number is not None else whole

    def known(self, whole: bool) -> int | None:
        """Return the expected number, or None if it is not known."""
        return self.count if whole else self.last_number


class Slots:
    """The slots of one broker; `rows`: all of its rows, of which the first `n_whole` miss nothing."""

    def __init__(self, facts: Facts, report: Reporter, numbered: bool, rows: Sequence[Row], sampled: bool) -> None:
        self._facts = facts
        self._report = report
        self._numbered = numbered
        self._linked = not any(row["op"] == "REMOVE" and row["ticket"] is not None for row in rows)
        whole = rows if facts.starts and not sampled else ()
        numbers = [row["tail_no"] for at, row in enumerate(whole) if gives(row) and row["seq"] == facts.first_seq + at]
        off = [number - at for at, number in enumerate(numbers) if number is not None]
        self._in_order, self._drifts = not any(off), sum(off) != 0
        self._given, self._taken = Side(), Side()
        self._island = 0
        self._before: list[Row] = []
        """The two events before, INSERTs aside."""

    def follow(self, now: Moment) -> None:
        """Read one event."""
        if now.island != self._island:
            self.finish()
            self._island = now.island
            self._given, self._taken = Side(), Side()
        row, op = now.row, now.row["op"]
        if op not in OF_SLOTS:
            return
        if op != "INSERT":
            self._heads(row)
        ends = op == "PASS_END"
        if gives(row) or ends:
            self._enter(row, now.whole, ends)
        if op in TAKES or ends:
            self._leave(row, now.whole, ends)
        empty = now.whole and self._linked and self._given.count == self._taken.count
        if ends and empty and row["stamp_ns"] is not None:
            self._report("R-STATE-2", row, "no stamp: no slot is left", row["stamp_ns"], [row["seq"]], True)

    def finish(self) -> None:
        """Nothing follows the last event without a gap."""
        self._heads(None)
        self._before.clear()

    def _enter(self, row: Row, whole: bool, ends: bool) -> None:
        side, number = self._given, row["tail_no"]
        if side.is_wrong(number, whole, self._numbered):
            certain = self._in_order if ends else self._facts.complete and self._drifts
            sure = not self._facts.many or certain
            self._report("R-STATE-2", row, side.known(whole), number, [row["seq"]], sure)
        side.count += not ends
        side.last_number = side.last_number if number is None else number + (not ends)

    def _leave(self, row: Row, whole: bool, ends: bool) -> None:
        side, number = self._taken, row["head_no"]
        if self._linked and side.is_wrong(number, whole, self._numbered):
            self._report("R-STATE-2", row, side.known(whole), number, [row["seq"]], True)
        side.count += not ends
        side.last_number = side.last_number if number is None else number + (not ends)

    def _heads(self, row: Row | None) -> None:
        """Check that the next slot taken or shown is the head that the end of a pass has shown."""
        if len(self._before) == 2:
            self._head(self._before[0], self._before[1], row)
        self._before = [*self._before[-1:], row] if row is not None else self._before

    def _head(self, ended: Row, next_row: Row | None, then: Row | None) -> None:
        if ended["op"] != "PASS_END" or not self._linked or next_row is None or next_row["op"] not in SHOWS_HEAD:
            return
        stamp = ended["stamp_ns"]
        again = next_row["op"] == "PASS_END" and then is not None and stamp is not None and then["stamp_ns"] == stamp
        if differ(next_row["stamp_ns"], stamp) and not again:
            self._report("R-STATE-2", ended, next_row["stamp_ns"], stamp, [ended["seq"], next_row["seq"]], True)


def gives(row: Row) -> bool:
    """Return whether the event gives an entry a slot."""
    return row["op"] in ("INSERT", "REQUEUE") or is_open(row)


# ---------- calls that remove entries

RULE_OF: Final = {
    "RANGE": "R-INVALIDATE-1",
    "CLEAR": "R-INVALIDATE-4",
    "CURSOR": "R-INVALIDATE-7",
    "LEDGER": "R-INVALIDATE-8",
    "CLOSE": "R-INVALIDATE-9",
}
Pos = tuple[int, int]


Named = tuple[Any, str, int | None, int]
"""A call that removes entries: its cache, cause and ledger (cause LEDGER alone), and its id."""


@dataclass
class Call:
    """The range of a call that removes entries, as its rows show it."""

    cause: str
    ledger: int | None
    first_seq: int
    last_seq: int
    lowest: Pos | None = None
    highest: Pos | None = None

    def covers(self, pos: Pos) -> bool:
        """Return whether a position is of the range that the rows show."""
        if self.cause == "LEDGER":
            return pos[0] == self.ledger
        if self.cause in ("RANGE", "CURSOR"):
            if self.lowest is None or self.highest is None:
                return False
            return pos <= self.highest and (self.cause != "RANGE" or pos >= self.lowest)
        return True


def _named(row: Row) -> Named | None:
    """The call that a row is of, if it removes entries."""
    if row["call_id"] is None or not (
        row["op"] == "CACHE_CLOSE" or (row["op"] == "REMOVE" and row["cause"] in RULE_OF)
    ):
        return None
    cause = "CLOSE" if row["op"] == "CACHE_CLOSE" else row["cause"]
    if cause != "CLOSE" and row["entry_id"] is None:
        return None
    return row["cache"], cause, row["ledger_id"] if cause == "LEDGER" else None, row["call_id"]


def _calls(rows: list[Row]) -> dict[Named, Call]:
    calls: dict[Named, Call] = {}
    for row in rows:
        named = _named(row)
        if named is None:
            continue
        call = calls.setdefault(named, Call(named[1], named[2], row["seq"], row["seq"]))
        call.last_seq = row["seq"]
        if row["entry_id"] is not None and row["ledger_id"] is not None:
            pos = (row["ledger_id"], row["entry_id"])
            call.lowest = pos if call.lowest is None else min(call.lowest, pos)
            call.highest = pos if call.highest is None else max(call.highest, pos)
    return calls


class RemovalChecks:
    """The lives of each cache; a call is judged at its last row."""

    def __init__(self, facts: Facts, report: Reporter, rows: list[Row]) -> None:
        self._facts = facts
        self._report = report
        begins = Counter(row["life"] for row in rows if row["op"] == "INSERT" or is_open(row))
        self._twice = {life for life, times in begins.items() if times > 1}
        self._live: defaultdict[Any, dict[int, tuple[Pos, int]]] = defaultdict(dict)
        self._cache_of: dict[int, Any] = {}
        self._gone: set[int] = set()
        self._calls = _calls(rows)

    def follow(self, now: Moment) -> None:
        """Read one event."""
        row, op, life = now.row, now.row["op"], now.row["life"]
        begins = (
            (op == "INSERT" or is_open(row)) and life is not None and None not in (row["ledger_id"], row["entry_id"])
        )
        if begins and life not in self._twice and life not in self._gone:
            self._live[row["cache"]][life] = ((row["ledger_id"], row["entry_id"]), row["seq"])
            self._cache_of[life] = row["cache"]
        if op in ("EVICT", "REMOVE") and life is not None:
            self._gone.add(life)
            self._live[self._cache_of.get(life)].pop(life, None)
        named = _named(row)
        if named is not None and self._calls[named].last_seq == row["seq"]:
            self._judge(row, self._calls[named])

    def _judge(self, row: Row, call: Call) -> None:
        live = self._live[row["cache"]].items()
        left = [life for life, (pos, begin_seq) in live if begin_seq < call.first_seq and call.covers(pos)]
        if left:
            sure = not self._facts.gapped and not self._facts.many
            last_number = {**row, "life": min(left)}
            self._report(RULE_OF[call.cause], last_number, "none left", f"{len(left)} left", [call.last_seq], sure)


# ---------- read counts

STEPS: Final = {"READ_DONE": -1, "EXPECT": 1}
COUNT_RULE_OF: Final = {"READ_DONE": "R-COUNT-1", "EXPECT": "R-COUNT-2"}


@dataclass
class ReadCount:
    """The counts of one life, as far as its rows have shown them without a gap."""

    is_inserted: bool
    has_begin: bool
    first_count: int | None
    count: int | None
    seq: int
    steps: int = 0
    before: Counter[int] = field(default_factory=Counter)
    after: Counter[int] = field(default_factory=Counter)
    last_step: Row | None = None
    is_known: bool = True


class DeletedLedgers:
    """The ledgers that were deleted (R-LEDGER-17)."""

    def __init__(self, facts: Facts, report: Reporter) -> None:
        self._facts, self._report = facts, report
        self._known = facts.starts and not facts.gapped
        self._deleted: dict[tuple[str, int], int] = {}
        self._reading: set[str] = set()
        self._undeleted: list[Row] = []

    def follow(self, now: Moment) -> None:
        """Read one event."""
        row, op = now.row, now.row["op"]
        place, is_whole = (row["cache"], row["ledger_id"]), op == "REMOVE" and row["cause"] == "LEDGER"
        if op == "READ_BEGIN":
            self._reading.add(row["cache"])
        elif is_whole and place not in self._deleted:
            self._undeleted.append(row)
        elif place in self._deleted and self._is_late(row, self._deleted[place]) and not is_whole:
            sure = not self._facts.many or (op, row["cause"]) in (("INSERT", "ADD"), ("SNAPSHOT", "END"))
            seqs = [self._deleted[place], row["seq"]]
            self._report("R-LEDGER-17", row, "nothing of a deleted ledger", op, seqs, sure and self._known)
        elif op == "LEDGER_DELETE":
            self._deleted[place] = row["seq"]

    def _is_late(self, row: Row, deleted_seq: int) -> bool:
        """Return whether a row shows an entry that a deletion left, or that came after it."""
        if row["op"] in ("LEDGER_DELETE", "INSERT", "ASK", "HIT"):
            return True
        is_removal = row["op"] in ("EVICT", "REQUEUE", "SNAPSHOT", "REMOVE") and row["life"] is not None
        return bool(is_removal and row["life"] < deleted_seq and (row["op"] != "REMOVE" or row["cause"] is not None))

    def finish(self) -> None:
        """Report the ledgers that lost all entries without a deletion, where cursors read."""
        for row in self._undeleted:
            if row["cache"] in self._reading:
                sure = self._known and self._facts.virtual
                self._report("R-LEDGER-17", row, "LEDGER_DELETE", "REMOVE LEDGER", [row["seq"]], sure)


class FailedReads:
    """The reads that fail (R-INFLIGHT-10), and the entries that answers bring (R-INFLIGHT-3)."""

    def __init__(self, facts: Facts, report: Reporter) -> None:
        self._facts, self._report = facts, report
        self._failed_seq = -1
        self._requested: dict[int, int] = {}
        self._calls: dict[int, int | None] = {}
        self._first_asks: dict[int, int] = {}
        self._lost: set[int] = set()
        self._refused: dict[int, int] = {}
        self._with_hits: set[int] = set()
        self._brought: Counter[int] = Counter()
        self._answers: dict[int, Row] = {}
        self._unnamed: Counter[str] = Counter()

    def follow(self, now: Moment) -> None:
        """Read one event."""
        row, op, number = now.row, now.row["op"], now.row["read_id"]
        if op == "READ_END" and number is not None:
            self._end(row, number)
        elif op == "READ_BEGIN" and number is not None:
            self._calls[number] = row["call_id"]
        elif op == "ASK" and None not in (number, row["ask_id"], row["call_id"]):
            if self._calls.get(number) == row["call_id"]:
                self._first_asks[row["ask_id"]] = number
        elif op == "HIT" and number is not None:
            self._with_hits.add(number)
        elif op == "PERMIT" and row["cause"] == "REFUSED":
            self._refuse(row, number)
        elif op == "PERMIT" and row["cause"] in ("QUEUED", "TAKEN") and None not in (number, row["call_id"]):
            self._requested[number] = row["call_id"]
        elif op == "ANSWER" and row["cause"] is not None:
            self._answer(row)
        elif op == "MISS" and row["cause"] in ("READ", "REPLAY"):
            self._unnamed[row["cache"]] += row["ask_id"] is None
        if op == "MISS" and row["ask_id"] is not None:
            self._brought[row["ask_id"]] -= 1

    def _refuse(self, row: Row, number: int | None) -> None:
        if number is None:
            self._failed_seq = row["seq"]
        else:
            self._refused[number] = row["seq"]
            if row["call_id"] is not None and self._calls.get(number) == row["call_id"]:
                self._lost.add(number)

    def _end(self, row: Row, number: int) -> None:
        failed_seq = max(self._failed_seq, self._refused.get(number, -1))
        has_cause = failed_seq >= number or not self._facts.names_reads
        has_cause |= row["call_id"] is not None and self._requested.get(number) == row["call_id"]
        has_lost = number in self._lost and number not in self._with_hits
        is_wrong = (row["cause"] == "FAILED" and not has_cause) or (row["cause"] == "DONE" and has_lost)
        if is_wrong and self._facts.virtual and self._facts.starts and not self._facts.gapped:
            seqs, sure = [number, row["seq"]], not self._facts.many
            self._report("R-INFLIGHT-10", row, "a read that ends as its asks do", row["cause"], seqs, sure)

    def _answer(self, row: Row) -> None:
        number = row["ask_id"]
        if row["cause"] != "ALL":
            self._failed_seq = row["seq"]
        if row["cause"] in ("FAIL", "BUSY") and number in self._first_asks:
            self._lost.add(self._first_asks[number])
        if number is not None:
            self._answers[number] = row
            if row["cause"] in ("ALL", "SHORT") and None not in (row["entry_id"], row["last_entry_id"]):
                self._brought[number] += row["last_entry_id"] - row["entry_id"] + 1

    def finish(self) -> None:
        """Report the answers that have not as many MISS rows as entries, where each MISS names its ask."""
        for number, row in self._answers.items():
            if self._brought[number] and self._unnamed.get(row["cache"]) == 0:
                sure = self._facts.complete and not self._facts.many
                self._report("R-INFLIGHT-3", row, "a MISS for each entry", "ANSWER", [number, row["seq"]], sure)


class ReadCountChecks:
    """The counts of all lives."""

    def __init__(self, facts: Facts, report: Reporter) -> None:
        self._facts = facts
        self._report = report
        self._island = 0
        self._of: dict[int, ReadCount] = {}

    def follow(self, now: Moment) -> None:
        """Read one event."""
        if now.island != self._island:
            self.finish()
            self._island = now.island
            self._of.clear()
        row, op, life = now.row, now.row["op"], now.row["life"]
        if life is None or not self._speaks(row):
            return
        count, step = row["expected_reads"], STEPS.get(op, 0)
        read_count = self._of.get(life)
        if read_count is None:
            has_begin = op == "INSERT" or is_open(row)
            read_count = self._of[life] = ReadCount(op == "INSERT", has_begin, count, count, row["seq"])
        else:
            self._compare(row, read_count, step)
        read_count.steps += step
        read_count.count, read_count.seq = count, row["seq"]
        if step:
            read_count.last_step = row
            if count is None:
                read_count.is_known = False
            else:
                read_count.after[count] += 1
                read_count.before[count - step] += 1

    def _speaks(self, row: Row) -> bool:
        if row["op"] in ("HIT", "REQUEUE"):
            return row["expected_reads"] is not None and not self._facts.many
        return row["op"] in ("INSERT", "READ_DONE", "EXPECT", "EVICT", "REMOVE", "SNAPSHOT")

    def _compare(self, row: Row, read_count: ReadCount, step: int) -> None:
        op, count = row["op"], row["expected_reads"]
        total = None if read_count.first_count is None else read_count.first_count + read_count.steps + step
        seqs = [read_count.seq, row["seq"]]
        if step:
            if read_count.is_inserted and read_count.first_count is None:
                self._report("R-COUNT-3", row, "an entry with a count", count, seqs, self._facts.counts_inserts)
            elif (
                not self._facts.many
                and count is not None
                and read_count.count is not None
                and count != read_count.count + step
                and not (read_count.has_begin and count == total)
            ):
                self._report(COUNT_RULE_OF[op], row, read_count.count + step, count, seqs, True)
        elif (
            op != "INSERT"
            and not self._facts.many
            and count is not None
            and (
                count != read_count.count
                if read_count.count is not None
                else read_count.is_inserted or total is not None
            )
            and not (read_count.has_begin and count == total)
        ):
            sure = read_count.first_count is not None or self._facts.counts_inserts
            self._report("R-COUNT-3", row, read_count.count, count, seqs, sure)

    def finish(self) -> None:
        """With several threads: the counts before and after pair up, but for the first and the last."""
        if not self._facts.many:
            return
        for read_count in self._of.values():
            if not (read_count.has_begin and read_count.is_known) or read_count.last_step is None:
                continue
            first, last = (
                read_count.first_count,
                None if read_count.first_count is None else read_count.first_count + read_count.steps,
            )
            before, after = read_count.before.copy(), read_count.after.copy()
            if first is not None and last is not None:
                after[first] += 1
                before[last] += 1
            if before + Counter() != after + Counter():
                self._report(
                    "R-COUNT-1",
                    read_count.last_step,
                    last,
                    "other counts",
                    [read_count.last_step["seq"]],
                    self._facts.complete,
                )
