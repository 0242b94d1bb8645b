"""A bounded model of reads by cursors that overlap: every order of late, failed and short answers, until it closes."""

import pytest

from entrycache_conformance.systems import system_named
from entrycache_evidence.pulsar_pip430.definitions import is_defined
from entrycache_reference.pulsar_pip430 import config, initial, laws, ops, step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import CacheName, CursorName, HoldName, Position, ReadName

A, C, D = CacheName("a"), CursorName("c"), CursorName("d")
HELD_STORAGE = config.Config(storage=config.Storage.HELD, grace_millis=0)


def at(entry):
    return Position(1, entry)


PREFIX = (
    ops.Append(A, at(0), 1),
    ops.CursorOpen(A, C, at(0)),
    ops.Append(A, at(1), 1),
    ops.Deactivate(A, C),
    ops.Append(A, at(2), 1),
    ops.Activate(A, C),
    ops.CursorOpen(A, D, at(0)),
)
"""Three entries, of which the middle one is cached, and two cursors before all of them."""


def events(state):
    """Yield both reads, every answer to every open ask, both releases, and an acknowledgement."""
    yield ops.ReadBegin(A, C, ReadName("f"), 3)
    yield ops.ReadBegin(A, D, ReadName("g"), 2)
    for ask in state.pending.asks:
        for answer in (*ops.StorageAnswerKind, 1):
            yield ops.StorageAnswer(ask, answer)
    yield ops.Release(HoldName("f"))
    yield ops.Release(HoldName("g"))
    yield ops.Ack(A, C, at(0))


def explore(model_step, most_asks, fired):
    """Explore all states with at most so many asks; return states, transitions, and the first broken rules."""
    state = initial(HELD_STORAGE)
    for event in PREFIX:
        state = step(state, event, HELD_STORAGE).state
    known, level, transitions = {repr(state._replace(counts=None))}, [state], 0
    while level:
        later = []
        for state in level:
            for event in events(state):
                done, transitions = model_step(state, event, HELD_STORAGE), transitions + 1
                broken = laws.broken(HELD_STORAGE, state, event, done, fired)
                if broken or (model_step is step and not is_defined(HELD_STORAGE, state, event, done)):
                    return len(known), transitions, broken or ("undefined", event)
                key = repr(done.state._replace(counts=None))
                if done.state.pending.sent <= most_asks and key not in known:
                    known.add(key)
                    later.append(done.state)
        level = later
    return len(known), transitions, ()


def test_every_order_of_answers_keeps_the_laws():
    fired = {}
    states, transitions, broken = explore(step, 2, fired)
    print(f"{states} states, {transitions} transitions")
    assert broken == ()
    assert (states, transitions) == (293, 1845)
    assert {rule for rule in Rule if rule.name.startswith("INFLIGHT_")} <= fired.keys()


FAULTS = [fault for fault in system_named("pulsar-pip430").seeded_faults.own if fault.rule.name.startswith("INFLIGHT_")]
OTHER_RULES = {
    *(Rule.INFLIGHT_3, Rule.INFLIGHT_8, Rule.INFLIGHT_13),
    *(Rule.INFLIGHT_2, Rule.INFLIGHT_5, Rule.INFLIGHT_10, Rule.INFLIGHT_11, Rule.INFLIGHT_12),
}
"""Rules whose own fault is one of reads without a cache, or needs more entries, asks or acknowledgements than these."""


@pytest.mark.parametrize(
    "fault", [one for one in FAULTS if one.rule not in OTHER_RULES], ids=lambda fault: fault.rule.value
)
def test_the_model_detects_the_fault_of_each_rule(fault):
    _, _, broken = explore(fault.model.step, 2, {})
    assert broken[:1] == (fault.rule,)
