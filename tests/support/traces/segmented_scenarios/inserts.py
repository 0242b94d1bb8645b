"""Scenarios of offers, of offsets, and of the used bytes."""

from __future__ import annotations

from tests.support.traces.segmented_scenarios.scenario import Violations, at, fill, scenario, wrong
from tests.support.traces.segmented_script import RingScript


@scenario(max_size_bytes=1_001, segments=None)
def room_of_two_segments(s: RingScript, violating: bool) -> Violations:
    """Without a number there are two segments, and the remainder of the division is not used."""
    fill(s, 11)
    begin = next(row for row in s.rows if row["op"] == "PASS_BEGIN")
    if violating:
        begin["trigger_bytes"] += 1
    return wrong(violating, ("S-CONFIG-1", begin))


@scenario(max_size_bytes=301)
def room_rounded_up(s: RingScript, violating: bool) -> Violations:
    """A segment has the third part of the limit, rounded down."""
    fill(s, 3)
    row = s.rows[-2]
    assert row["op"] == "PASS_END"
    if violating:
        row["trigger_bytes"] = 101
    return wrong(violating, ("S-CONFIG-2", row))


@scenario()
def into_an_older_segment(s: RingScript, violating: bool) -> Violations:
    """An entry goes into the current segment, and into no other that has room."""
    fill(s, 3)
    row = s.insert(at(3), 0)
    if violating:
        row["tail_no"] = 0
        s.held[at(3)]["tail_no"] = 0
    return wrong(violating, ("S-INSERT-1", row))


@scenario(mode="copy", max_size_bytes=768)
def not_behind_the_last(s: RingScript, violating: bool) -> Violations:
    """An entry starts where the one before it, rounded up, ends."""
    s.insert(at(0), 65)
    s.call()
    row = s.take(at(1), 10, bound=64 if violating else 128, advance=128 if violating else None)
    row["manager_bytes"] = s.offsets[0] = 192
    return wrong(violating, ("S-INSERT-1", row))


@scenario()
def rejected_but_not_there(s: RingScript, violating: bool) -> Violations:
    """An entry that the ring has dropped is no duplicate; an entry that it is about to drop still is."""
    fill(s, 7 if violating else 6)
    row = s.left_out("REJECT", "DUPLICATE", at(0))
    return wrong(violating, ("S-INSERT-1", row))


@scenario()
def not_disabled(s: RingScript, violating: bool) -> Violations:
    """Caching is off where the limit is 0, and not where a segment is full."""
    s.insert(at(0), 100)
    row = s.left_out("SKIP", "DISABLED", at(1), 1) if violating else s.insert(at(1), 1)
    return wrong(violating, ("S-INSERT-1", row))


@scenario()
def the_same_position_again(s: RingScript, violating: bool) -> Violations:
    """A position that an older segment holds is not taken again; one of another ledger, or cache, is."""
    fill(s, 3, 40)
    s.insert(at(0, ledger=2), 1)
    s.insert(at(0, cache="b"), 1)
    first = s.held[at(0)]
    if not violating:
        s.left_out("REJECT", "DUPLICATE", at(0), 40)
        return []
    row = s.insert(at(0), 40)
    s.held[("first", 0, 0)] = first
    return [("S-INSERT-2", row)]


@scenario()
def a_duplicate_moves_the_offset(s: RingScript, violating: bool) -> Violations:
    """A rejected entry uses no bytes."""
    s.insert(at(0), 40)
    s.offsets[0] += 40 if violating else 0
    row = s.left_out("REJECT", "DUPLICATE", at(0), 40)
    s.offsets[0] = 40
    return wrong(violating, ("S-INSERT-2", row))


@scenario(max_size_bytes=301)
def longer_than_a_segment(s: RingScript, violating: bool) -> Violations:
    """An entry of a whole segment is taken, one byte more is not."""
    row = s.insert(at(0), 101 if violating else 100, turn=False)
    return wrong(violating, ("S-INSERT-3", row))


@scenario(max_size_bytes=0)
def taken_where_off(s: RingScript, violating: bool) -> Violations:
    """With a limit of 0 an entry without bytes is not taken either."""
    row = s.insert(at(0), 0) if violating else s.left_out("SKIP", "DISABLED", at(0), 0)
    return wrong(violating, ("S-INSERT-4", row))


@scenario()
def a_negative_size(s: RingScript, violating: bool) -> Violations:
    """A size of 0 is a size like any other, one of -1 is refused."""
    s.insert(at(0), 10)
    row = s.left_out("REJECT", "DUPLICATE", at(0), -1 if violating else 0)
    return wrong(violating, ("S-INSERT-5", row))


@scenario(mode="copy", max_size_bytes=768)
def copies_not_rounded(s: RingScript, violating: bool) -> Violations:
    """A copy takes a multiple of 64."""
    row = s.insert(at(0), 65, advance=65 if violating else None)
    s.insert(at(1), 64)
    return wrong(violating, ("S-SEGMENT-2", row))


@scenario(max_size_bytes=768)
def references_rounded(s: RingScript, violating: bool) -> Violations:
    """A reference takes exactly its size, also if that is 64."""
    row = s.insert(at(0), 63 if violating else 64, advance=64)
    s.insert(at(1), 64)
    return wrong(violating, ("S-SEGMENT-3", row))


@scenario()
def written_over_the_end(s: RingScript, violating: bool) -> Violations:
    """The last entry of a segment may end at its end, and not behind."""
    s.insert(at(0), 60)
    row = s.insert(at(1), 41 if violating else 40, turn=False)
    return wrong(violating, ("S-SEGMENT-1", row))


@scenario()
def turned_though_it_fits(s: RingScript, violating: bool) -> Violations:
    """The ring turns where an entry would end behind the segment, not at its end."""
    s.insert(at(0), 60)
    s.insert(at(1), 40 if violating else 41, turn=True)
    return wrong(violating, ("S-SEGMENT-1", next(row for row in s.rows if row["op"] == "PASS_BEGIN")))


@scenario()
def a_failed_offer_counts(s: RingScript, violating: bool) -> Violations:
    """A segment that does not take an entry keeps its offset."""
    s.insert(at(0), 60)
    s.offsets[0] += 41 if violating else 0
    s.insert(at(1), 41, turn=True)
    begin = next(row for row in s.rows if row["op"] == "PASS_BEGIN")
    return wrong(violating, ("S-SEGMENT-4", begin))


@scenario()
def what_is_left_out_counts(s: RingScript, violating: bool) -> Violations:
    """An entry too long for any segment moves no offset."""
    s.insert(at(0), 60)
    s.offsets[0] += 1 if violating else 0
    row = s.left_out("SKIP", "FULL", at(1), 101)
    s.offsets[0] = 60
    return wrong(violating, ("S-SEGMENT-4", row))


@scenario()
def does_not_begin_at_zero(s: RingScript, violating: bool) -> Violations:
    """The first segment is empty when a run begins."""
    s.call()
    row = s.take(at(0), 10, bound=1 if violating else 0, advance=9 if violating else 10)
    return wrong(violating, ("S-STATE-1", row))


@scenario()
def a_wrong_sum(s: RingScript, violating: bool) -> Violations:
    """The bytes in use are the sizes as they were inserted."""
    fill(s, 5)
    row = s.rows[-2]
    row["bytes_after"] += int(violating)
    return wrong(violating, ("S-USAGE-1", row))


@scenario(mode="copy", max_size_bytes=768)
def usage_of_offsets(s: RingScript, violating: bool) -> Violations:
    """The used bytes are not the offsets up to which segments are written."""
    s.insert(at(0), 65)
    row = s.usage(bytes=128 if violating else 65)
    return wrong(violating, ("S-USAGE-1", row))


@scenario()
def usage_counts_what_has_left(s: RingScript, violating: bool) -> Violations:
    """A turn frees the bytes of the entries that it drops."""
    fill(s, 7)
    row = s.usage(entries=7 if violating else 5)
    return wrong(violating, ("S-USAGE-1", row))


@scenario()
def another_size_at_the_end(s: RingScript, violating: bool) -> Violations:
    """An entry leaves with the size that it came with."""
    fill(s, 7)
    row = next(row for row in s.rows if row["op"] == "EVICT")
    row["size_bytes"] += int(violating)
    return wrong(violating, ("S-USAGE-1", row))
