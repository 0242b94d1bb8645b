import pytest

from entrycache_evidence.pulsar_pip430.runs import REFUSED, A, B, H, at, play
from entrycache_reference.pulsar_pip430.config import Eviction, Variants, ZeroReads
from entrycache_reference.pulsar_pip430.ops import Exists, Get, Insert, Read, ReadOne
from entrycache_reference.pulsar_pip430.outcomes import Existing, Served

TWO = [Insert(A, at(1), 1, 5, 11), Insert(A, at(3), 1, 5, 13)]


def read(first, last, expected_reads=0, **hold):
    return Read(A, at(first), at(last), expected_reads, **hold)


@pytest.mark.rule("R-READ-7")
def test_r_read_7__cached_positions_are_served_and_marked():
    run = play(*TWO, Insert(A, at(5), 1), read(0, 4))
    assert run.last.hits == (at(1), at(3))
    assert [run.entry(entry).accessed for entry in (1, 3, 5)] == [True, True, False]


@pytest.mark.rule("R-READ-7")
def test_r_read_7__hits_are_decided_and_marked_before_any_fill_comes_in():
    events = [Insert(A, at(1), 4), Insert(A, at(2), 4), read(0, 2, 1)]
    run = play(*events, max_size_bytes=10, watermark=0.5, storage_entry_size=3)
    assert run.last.hits == (at(1), at(2))
    assert [(row.op, row.cause) for row in run.rows if row.entry_id == 1][:2] == [
        ("HIT", "READ"),
        ("REQUEUE", "ACCESSED"),
    ]


@pytest.mark.rule("R-READ-8")
def test_r_read_8__storage_gives_the_rest_ascending():
    run = play(*TWO, read(0, 4))
    assert run.last.fills == (at(0), at(2), at(4))


@pytest.mark.rule("R-READ-9")
def test_r_read_9__fills_are_cached_one_by_one_with_the_count_of_the_read():
    run = play(*TWO, read(0, 4, 3, hold=H), storage_entry_size=7)
    assert run.queue() == [1, 3, 0, 2, 4]
    assert {(run.entry(entry).size_bytes, run.entry(entry).expected_reads) for entry in (0, 2, 4)} == {(7, 3)}


@pytest.mark.rule("R-READ-9")
@pytest.mark.parametrize("config", [{}, {"max_size_bytes": 0}])
@pytest.mark.parametrize("expected_reads", [0, -1, 2])
def test_r_read_9__fills_without_another_reader_are_not_cached(config, expected_reads):
    wanted = expected_reads == 2 and not config
    run = play(read(0, 1, expected_reads), **config)
    assert run.last.fills == (at(0), at(1))
    assert (run.find(0) is not None) == wanted


@pytest.mark.rule("R-READ-9", "R-TRIGGER-2")
def test_r_read_9__each_fill_has_its_own_trigger():
    run = play(read(0, 5, 1, hold=H), max_size_bytes=10, watermark=0.5, storage_entry_size=4, max_requeues=0)
    assert sum(row.op == "PASS_BEGIN" for row in run.rows) == 2
    assert run.last.fills == tuple(at(entry) for entry in range(6))
    assert run.queue() == [4, 5]


@pytest.mark.rule("R-READ-9", "R-TRIGGER-4")
def test_r_read_9__fills_set_the_flag():
    run = play(read(0, 3, 1), max_size_bytes=10, storage_entry_size=4, eviction=Eviction.MANUAL)
    assert run.after.is_scheduled
    assert run.after.size_bytes == 16


@pytest.mark.rule("R-READ-10")
def test_r_read_10__one_position_is_served_and_marked_or_left_out():
    run = play(*TWO, ReadOne(A, at(1)), ReadOne(A, at(2)), Exists(A, at(2)))
    assert run.outcomes[2:] == (Served((at(1),), (), (11,)), Served((), (at(2),), (2,)), Existing(False))
    assert run.entry(1).accessed


@pytest.mark.rule("R-READ-11", "R-STATE-5")
@pytest.mark.parametrize(
    "event",
    [Read(B, at(0), at(0, 2), 1), Read(B, at(1), at(0), 1, H), Read(B, at(0), at(1), 1, H), ReadOne(B, at(0), H)],
)
def test_r_read_11__two_ledgers_a_reversed_range_and_an_open_hold_are_refused(event):
    run = play(*TWO, ReadOne(A, at(1), H), event)
    assert run.last == REFUSED
    assert run.after == run.before


@pytest.mark.rule("R-READ-12")
def test_r_read_12__payloads_of_hits_come_first_then_those_of_fills():
    assert play(*TWO, read(0, 3)).last.tokens == (11, 13, 0, 2)
    assert play(*TWO, Get(A, at(1)), ReadOne(A, at(3))).last.tokens == (13,)


@pytest.mark.rule("R-READ-13")
def test_r_read_13__fills_with_counted_zero_reads_are_cached():
    run = play(read(0, 1, 0, hold=H), variants=Variants(zero_reads=ZeroReads.COUNTED))
    assert [run.entry(entry).expected_reads for entry in (0, 1)] == [0, 0]
    assert play(read(0, 1, -1, hold=H), variants=Variants(zero_reads=ZeroReads.COUNTED)).find(0) is None
