"""A mirror of the removal queue that tells which dequeue passed over an older slot."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any, Final, NamedTuple

Row = dict[str, Any]

PASSED, LATER_SLOT, EARLIER_SLOT, NUMBER = 1, 2, 3, 4
"""What a finding is: an older slot passed over; a ticket that is not the entry's; a head_no out of line."""

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
        self._found: list[Finding] = []
        self._numbers: list[tuple[int, int | None, int, int]] = []
        self._unlinked = False

    def __len__(self) -> int:
        return len(self._held)

    def follow(self, row: Row, island: int) -> None:
        """Take in one event."""
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

    def _leave(self, row: Row, before: str | None, island: int) -> None:
        slot = self._of_life.pop(row["life"], None)
        if slot is None or before not in ENQUEUES:
            return
        sure = slot.island == island or (self._numbered and row["ticket"] == slot.number)
        if sure or self._held.get(slot.number) is slot:
            self._held.pop(slot.number, None)
            self._left.add(slot.number)
        if sure and slot.suspect is not None:
            self._found.append(slot.suspect)
        if row["op"] in ("REMOVE", "TOMBSTONE"):
            return
        seq, life, ticket = row["seq"], row["life"], row["ticket"]
        if self._numbered and slot.island == island and ticket != slot.number:
            place = LATER_SLOT if ticket > slot.number else EARLIER_SLOT
            self._found.append(Finding(place, seq, life, f"ticket {ticket} of slot {slot.number}"))
        if sure:
            self._pass_over(slot.number, Finding(PASSED, seq, life, f"{row['op']} of a younger slot"), island)

    def _pass_over(self, number: int, finding: Finding, island: int) -> None:
        while self._unpassed and self._unpassed[0] < number:
            slot = self._held.get(heappop(self._unpassed))
            if slot is not None and not slot.passed:
                slot.passed = True
                if slot.island == island:
                    self._found.append(finding)
                else:
                    slot.suspect = finding

    def findings(self, whole: bool) -> list[Finding]:
        """The wrong dequeues of the most telling kind."""
        found = self._found + (self._out_of_line() if whole and not self._unlinked else [])
        first = min((item.place for item in found), default=0)
        return sorted({item for item in found if item.place == first}, key=lambda item: item.seq)

    def _out_of_line(self) -> list[Finding]:
        ahead = [ticket - head_no for _, _, ticket, head_no in self._numbers]
        found = []
        for at, (seq, life, _, head_no) in enumerate(self._numbers):
            before = ahead[at - 1] if at else 0
            after = ahead[at + 1] if at + 1 < len(ahead) else before
            if ahead[at] != before and after == before:
                found.append(Finding(NUMBER, seq, life, f"head_no {head_no}"))
        return found
