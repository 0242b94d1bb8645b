"""Tie the proofs to the code: play on large random states what the proofs run on terms."""

from __future__ import annotations

import random
from operator import mul
from typing import Any

import pytest
from hypothesis import given, strategies

z3 = pytest.importorskip("z3", reason="needs the Python package z3-solver")

from entrycache_evidence.kafka_streams import size_lemmas  # noqa: E402
from entrycache_evidence.pulsar_pip430.induction import pass_loop  # noqa: E402
from entrycache_evidence.pulsar_pip430.induction.decision import PULSAR  # noqa: E402
from entrycache_evidence.pulsar_pip430.induction.shapes import LATER_LEDGER, NEXT, OWN, A, B, X, Y, Z  # noqa: E402
from entrycache_reference.pulsar_pip430 import ops, passes, step  # noqa: E402
from entrycache_reference.pulsar_pip430.config import Config, Settings  # noqa: E402
from entrycache_reference.pulsar_pip430.passes import PassKind  # noqa: E402
from entrycache_reference.pulsar_pip430.state import Cache, Entry, Slot, State  # noqa: E402
from entrycache_reference.vocabulary import CacheName, Position  # noqa: E402

CLAIMS = (
    pass_loop.claim_sums,
    pass_loop.one_slot_each,
    pass_loop.by_age,
    pass_loop.from_head_to_tail,
    pass_loop.the_rest_stays,
    pass_loop.answers_what_left,
    pass_loop.no_dead_head,
    pass_loop.enough_or_empty,
    pass_loop.overshoots_less_than_the_last,
    pass_loop.takes_only_expired,
    pass_loop.the_rest_is_young,
    pass_loop.claim_termination,
    pass_loop.one_row_each,
    pass_loop.claims_follow,
    pass_loop.oldest_leaves,
)


def any_entry(source: random.Random, stamp: int) -> Entry:
    count = source.choice((None, -1, 0, 1, 3))
    return Entry(source.randint(0, 50), stamp, source.randint(0, 3), source.random() < 0.4, count, None)


def large_state(source: random.Random, slots: list[Slot]) -> State:
    """Build a state with these entries, with dead slots between them."""
    queue: list[Slot | None] = []
    entries: dict[Slot, Entry] = {}
    stamp = 0
    for slot in slots:
        queue += [None] * source.choice((0, 0, 1, 2))
        stamp += source.choice((0, 0, 1, 5))
        queue.append(slot)
        entries[slot] = any_entry(source, stamp)
    caches = {}
    for name in {slot.cache for slot in slots} | {A, B}:
        own = {slot.pos: entry for slot, entry in entries.items() if slot.cache == name}
        caches[name] = Cache(own, sum(entry.size_bytes for entry in own.values()))
    settings = Settings(10**9, 0.9, 7, source.randint(0, 3), source.random() < 0.7)
    total = sum(cache.size_bytes for cache in caches.values())
    return State(stamp + source.choice((0, 3)), settings, caches, tuple(queue), total)


@pytest.mark.parametrize("kind", PassKind)
def test_every_turn_of_a_long_pass_keeps_what_the_fold_lemmas_say(
    kind: PassKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = random.Random(5)
    slots = [Slot(CacheName(source.choice("abc")), Position(9, number)) for number in range(12)]
    monkeypatch.setattr(pass_loop, "TURNS", 10**9)
    monkeypatch.setattr(pass_loop, "RANK_OF_REST", z3.IntVal(0))
    monkeypatch.setattr(pass_loop, "SLOT_NAMES", {slot: str(slot) for slot in slots})
    turns = 0
    for _ in range(3):
        pre = large_state(source, slots)
        bound = pre.now_nanos - source.randint(0, 30) if kind is PassKind.TIME else source.randint(1, pre.size_bytes)
        for module in (pass_loop, pass_loop):
            monkeypatch.setattr(module, "BOUND", bound)
        run = pass_loop.run_turns(PULSAR, pre, kind, Config())
        assert run.step is not None
        assert run.step.state == passes.run_pass(pre, kind, bound, Config()).state
        turns += len(run.turns)
        for claim in CLAIMS:
            assert z3.is_true(z3.simplify(z3.And(claim(run), True))), claim.__name__
    assert turns > 30


@pytest.mark.long
def test_two_turns_on_terms_remove_requeue_drop_and_halt() -> None:
    """Otherwise a claim about turns would say nothing."""
    actions, ended = set(), 0
    for setting in pass_loop.SETTINGS:
        for _, run in pass_loop.paths_of_two_turns(PULSAR, setting)[1]:
            actions |= {(setting.kind, at, after.events[-1].line.action) for at, (_, after) in enumerate(run.turns)}
            ended += run.step is not None
    # All five actions in both turns of both passes; a size pass that has freed nothing does not halt.
    assert len(actions) == 2 * 2 * 5 - 1
    assert ended > 20


def summary(state: State) -> State:
    """Summarize a state: the entry, one other of its cache, and one of another cache, with all bytes."""
    entries = {slot: state.caches[slot.cache].entries.get(slot.pos) for slot in (X, Y, Z)}
    own = sum(entry.size_bytes for pos, entry in state.caches[A].entries.items() if pos != OWN)
    other = sum(cache.size_bytes for name, cache in state.caches.items() if name != A)
    drawn: dict[Slot, Entry] = {}
    for slot, size in ((X, None), (Y, own), (Z, other)):
        entry = entries[slot]
        if entry is not None:
            drawn[slot] = entry if size is None else entry._replace(size_bytes=size)
    caches = {
        name: Cache({slot.pos: entry for slot, entry in drawn.items() if slot.cache == name}, total)
        for name, total in ((A, state.caches[A].size_bytes), (B, other))
    }
    queue = tuple(slot for slot in state.queue if slot in drawn)
    return State(state.now_nanos, state.settings, caches, queue, state.size_bytes)


STEPS: tuple[Any, ...] = (
    ops.Insert(A, OWN, 5, 2),
    ops.Get(A, OWN),
    ops.Exists(A, OWN),
    ops.GetRange(A, OWN, NEXT),
    ops.GetRange(A, Position(0, 0), Position(9, 9)),
    ops.RemoveRange(A, OWN, NEXT, False),
    ops.RemoveRange(A, Position(2, 0), Position(9, 9), True),
    ops.Clear(A),
    ops.MarkRead(A, OWN),
    ops.ExpectRead(A, OWN),
    ops.Advance(3),
    ops.Configure(max_requeues=9),
    ops.InvalidateBefore(A, LATER_LEDGER),
    ops.InvalidateLedger(A, 1),
    ops.RemoveCache(A),
    ops.ReadOne(A, OWN),
)


@pytest.mark.parametrize("is_cached", [True, False])
@pytest.mark.parametrize("event", STEPS, ids=lambda event: event.name)
def test_a_step_and_its_summary_commute(event: Any, is_cached: bool) -> None:
    """A step names none of the other entries, or treats all alike, so their number does not matter."""
    source = random.Random(3)
    for _ in range(5):
        others = [Slot(A, Position(2, number)) for number in range(30)]
        other_slots = [Z, *(Slot(CacheName(source.choice("bcd")), Position(3, number)) for number in range(30))]
        slots = [*others, *other_slots, *([X] if is_cached else [])]
        source.shuffle(slots)
        pre = large_state(source, slots)
        after = step(pre, event, Config()).state
        drawn = step(summary(pre), event, Config()).state
        assert summary(after) == summary(drawn)


@pytest.mark.parametrize("kind", PassKind)
def test_the_stand_in_for_passes_leaves_the_states_of_passes(kind: PassKind) -> None:
    """A pass takes heads, which leave or stand at the tail with a new stamp and no mark."""
    source = random.Random(11)
    slots = [Slot(CacheName(source.choice("abc")), Position(9, number)) for number in range(8)]
    kept_again, gone_ever = 0, 0
    for _ in range(20):
        pre = large_state(source, slots)
        bound = pre.now_nanos - source.randint(0, 20) if kind is PassKind.TIME else source.randint(1, pre.size_bytes)
        left = passes.run_pass(pre, kind, bound, Config()).state
        was = {Slot(name, pos): entry for name, cache in pre.caches.items() for pos, entry in cache.entries.items()}
        now = {Slot(name, pos): entry for name, cache in left.caches.items() for pos, entry in cache.entries.items()}
        touched = {slot for slot in was if now.get(slot) is not was[slot]}
        untouched = tuple(slot for slot in pre.queue if slot is not None and slot not in touched)
        again = [slot for slot in touched if slot in now]
        assert left.queue[: len(left.queue) - len(again)] == pre.queue[len(pre.queue) - len(left.queue) + len(again) :]
        assert set(untouched) <= set(left.queue[: len(left.queue) - len(again)])
        assert set(left.queue[len(left.queue) - len(again) :]) == set(again)
        assert all((now[slot].stamp_nanos, now[slot].accessed) == (pre.now_nanos, False) for slot in again)
        gone = [was[slot] for slot in touched if slot not in now]
        assert left.size_bytes == pre.size_bytes - sum(entry.size_bytes for entry in gone)
        assert left.counts.evicted_entries == pre.counts.evicted_entries + len(gone)
        kept_again, gone_ever = kept_again + len(again), gone_ever + len(gone)
    assert min(kept_again, gone_ever) > 10


@given(strategies.text(strategies.characters(codec=None)))
def test_a_text_is_counted_by_its_letters_of_each_kind(text: str) -> None:
    of_kind = [sum(kind.first <= ord(letter) <= kind.last for letter in text) for kind in size_lemmas.KINDS]
    assert sum(of_kind) == len(text)
    for encoding, each in (("utf-8", [kind.bytes for kind in size_lemmas.KINDS]), ("utf-16-le", [2, 2, 2, 4])):
        assert len(text.encode(encoding, "surrogatepass")) == sum(map(mul, each, of_kind))
    assert [2 * kind.units for kind in size_lemmas.KINDS] == [2, 2, 2, 4]
