"""Each promise to several threads, on a history that one fault would break.

A history is played a number of times, because threads meet by chance; the reference keeps the promise each time.
"""

from threading import Thread

import pytest

from entrycache_conformance.systems import SYSTEMS
from entrycache_conformance.systems.kafka_streams.histories import quiescent_queries
from entrycache_conformance.systems.kafka_streams.system import write_outcome
from entrycache_evidence.kafka_streams.runs import open_shared_cache
from entrycache_protocol import subject as player
from entrycache_protocol.case import History
from entrycache_reference.kafka_streams import Config, threads
from entrycache_reference.kafka_streams.ops import Flush, Get, Listen, Put
from entrycache_reference.rules import Rule

SYSTEM = SYSTEMS["kafka-streams"]
TIMES = 30
PATIENCE_SECONDS = 2.0
"""What a history without end is waited for; one that ends takes a few milliseconds."""


def broken(before, clients, namespaces=("a",), **settings):
    """The rules that a history breaks; `None`: it did not end."""
    config = Config(**settings)
    after = quiescent_queries(frozenset(SYSTEM.ops), namespaces)
    history = History(SYSTEM, config, tuple(before), tuple(tuple(steps) for steps in clients), after)
    events = []
    instance = open_shared_cache(config)
    playing = Thread(target=lambda: events.extend(player.play_history(instance, tuple(history.parts()))), daemon=True)
    playing.start()
    playing.join(PATIENCE_SECONDS)
    if playing.is_alive():
        return None
    told = [
        threads.HistoryStep(each.client, each.step, op, each.start, each.end, write_outcome(each.outcome))
        for each, op in zip(events, history.steps, strict=True)
    ]
    record = threads.Record(config, len(clients), tuple(told))
    return {rule for rule, _ in threads.judge_history(record, write_outcome).broken}


def always_kept(rule, before, clients, **settings):
    for _ in range(TIMES):
        found = broken(before, clients, **settings)
        assert found is not None
        assert rule not in found


def put(ns, key, value, dirty=True):
    return Put(ns, key, value, dirty)


@pytest.mark.rule("K-CONCURRENCY-1")
def test_k_concurrency_1__listeners_of_two_namespaces_that_use_each_other_lock_nobody_out():
    before = [Listen("a", (Get("b", "x"),)), Listen("b", (Get("a", "x"),)), put("a", "x", "1"), put("b", "x", "2")]
    for _ in range(TIMES):
        assert broken(before, [[Flush("a")], [Flush("b")]], ("a", "b")) is not None


@pytest.mark.rule("K-CONCURRENCY-2")
def test_k_concurrency_2__the_running_total_is_the_sum_at_rest():
    clients = [[put("a", "x", "1")], [put("a", "y", "2")]]
    always_kept(Rule.K_CONCURRENCY_2, [Listen("a")], clients)


@pytest.mark.rule("K-CONCURRENCY-3")
def test_k_concurrency_3__every_get_is_counted():
    always_kept(Rule.K_CONCURRENCY_3, [], [[Get("a", "x")] * 3, [Get("a", "x")] * 3])


@pytest.mark.rule("K-CONCURRENCY-4")
def test_k_concurrency_4__what_one_flush_hands_over_another_does_not():
    always_kept(Rule.K_CONCURRENCY_4, [Listen("a"), put("a", "x", "1")], [[Flush("a")], [Flush("a")]])


@pytest.mark.rule("K-CONCURRENCY-5")
def test_k_concurrency_5__two_writes_both_stand():
    clients = [[put("a", "x", "1"), Get("a", "x")], [put("a", "y", "2"), Get("a", "y")]]
    always_kept(Rule.K_CONCURRENCY_5, [Listen("a")], clients)


@pytest.mark.rule("K-CONCURRENCY-6")
def test_k_concurrency_6__a_reader_sees_what_another_has_written():
    writes = [put("a", "x", str(number)) for number in range(4)]
    reads = [put("a", "z", "9"), *[Get("a", "x")] * 8]
    always_kept(Rule.K_CONCURRENCY_6, [Listen("a"), put("a", "x", "first")], [writes, reads])


@pytest.mark.rule("K-CONCURRENCY-7")
def test_k_concurrency_7__two_writes_into_the_last_room_leave_one():
    clients = [[put("a", "x", "1")], [put("b", "y", "2")]]
    before = [Listen("a"), Listen("b")]
    always_kept(Rule.K_CONCURRENCY_7, before, clients, namespaces=("a", "b"), max_size_bytes=47)
