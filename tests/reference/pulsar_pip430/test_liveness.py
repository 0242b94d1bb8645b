import pytest

from entrycache_evidence.pulsar_pip430.runs import A, C, H, at, play
from entrycache_reference.pulsar_pip430 import ops
from entrycache_reference.pulsar_pip430.config import Storage
from entrycache_reference.pulsar_pip430.ops import Evict, Get, Insert
from entrycache_reference.pulsar_pip430.outcomes import Removed
from entrycache_reference.vocabulary import ABSENT, CursorName, HoldName, Position, ReadName, RequestName


@pytest.mark.rule("R-LIVENESS-1")
@pytest.mark.parametrize("max_requeues", [0, 1, 5])
def test_r_liveness_1__a_pass_takes_an_entry_once_and_once_more_for_each_extension(max_requeues):
    run = play(Insert(A, at(0), 1, 9), Get(A, at(0)), Evict(1), max_requeues=max_requeues)
    takes = sum(row.op in {"EVICT", "REQUEUE"} for row in run.rows)
    assert takes == 1 + max(1, max_requeues)
    assert run.last == Removed(1, 1)


D = CursorName("d")
K = HoldName("k")
R = RequestName("r")
F = ReadName("f")
APPENDS = [ops.Append(A, at(0), 1), ops.CursorOpen(A, C, at(0)), ops.Append(A, Position(2, 0), 1)]

EACH = {
    "insert": Insert(A, at(0), 1),
    "get": Get(A, at(0)),
    "get_range": ops.GetRange(A, at(0), at(1)),
    "exists": ops.Exists(A, at(0)),
    "remove_range": ops.RemoveRange(A, at(0), at(1), True),
    "clear": ops.Clear(A),
    "usage": ops.Usage(),
    "observe": ops.Observe(),
    "advance": ops.Advance(1),
    "expire": ops.Expire(),
    "evict": Evict(1),
    "mark_read": ops.MarkRead(A, at(0)),
    "expect_read": ops.ExpectRead(A, at(0)),
    "cycle": ops.Cycle(),
    "run_scheduled": ops.RunScheduled(),
    "configure": ops.Configure(ttl_nanos=1),
    "invalidate_before": ops.InvalidateBefore(A, at(1)),
    "invalidate_ledger": ops.InvalidateLedger(A, 1),
    "remove_cache": ops.RemoveCache(A),
    "metrics": ops.Metrics(),
    "read": ops.Read(A, at(0), at(1), 1, H),
    "read_one": ops.ReadOne(A, at(0)),
    "release": ops.Release(H),
    "cursor_add": ops.CursorAdd(A, C, at(0)),
    "cursor_move": ops.CursorMove(A, C, at(0)),
    "cursor_remove": ops.CursorRemove(A, C),
    "cursor_rank": ops.CursorRank(A, C),
    "slowest": ops.Slowest(A),
    "cursors": ops.Cursors(A),
    "should_cache": ops.ShouldCache(A),
    "append": ops.Append(A, at(0), 1),
    "cursor_open": ops.CursorOpen(A, D, at(0)),
    "cursor_read": ops.CursorRead(A, C, 1, K),
    "cursor_seek": ops.CursorSeek(A, C, at(0)),
    "cursor_reset": ops.CursorReset(A, C, at(0)),
    "mark_delete": ops.MarkDelete(A, C, at(0)),
    "ack": ops.Ack(A, C, at(0)),
    "activate": ops.Activate(A, C),
    "deactivate": ops.Deactivate(A, C),
    "cursor_close": ops.CursorClose(A, C),
    "replay_add": ops.ReplayAdd(H, at(0), ops.Dispatcher.SHARED),
    "replay_read": ops.ReplayRead(A, C, (at(0),)),
    "delete_ledger": ops.DeleteLedger(A, 1),
    "check_backlogs": ops.CheckBacklogs(A),
    "run_invalidations": ops.RunInvalidations(A),
    "cursor_state": ops.CursorState(A, C),
    "acquire": ops.Acquire(R, 1),
    "give_back": ops.GiveBack(R),
    "limiter": ops.LimiterState(),
    "fetch": ops.Fetch(F, at(0), at(2)),
    "read_begin": ops.ReadBegin(A, C, F, 1),
    "replay_begin": ops.ReplayBegin(A, C, F, (at(0),)),
    "storage_answer": ops.StorageAnswer(0, 1),
}


@pytest.mark.rule("R-LIVENESS-2")
@pytest.mark.parametrize("name", [op.name for op in ops.OPS])
def test_r_liveness_2__every_operation_answers_its_own_outcome(name):
    first = [Insert(A, at(0), 1, 1), ops.ReadOne(A, at(0), H if name == "release" else ABSENT)]
    managed = [*APPENDS, ops.CursorRead(A, C, 1, H)] if EACH[name].level == "ledger" else first
    if EACH[name].level == "limits":
        managed = [ops.Acquire(R, 1)] if name == "give_back" else []
    if name == "storage_answer":
        managed = [EACH["fetch"]]
    elif EACH[name].level == "inflight":
        managed = APPENDS
    storage = Storage.HELD if name in {"read_begin", "replay_begin"} else Storage.AT_ONCE
    run = play(*([] if name == "append" else managed), EACH[name], max_reads_in_flight_bytes=1, storage=storage)
    assert type(run.last) in EACH[name].answers
