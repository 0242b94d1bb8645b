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
"""The time to wait for a history that does not end; one that ends takes a few milliseconds."""


def broken(before, clients, namespaces=("a",), **settings):
    """Return the rules that a history breaks; None if it did not end."""
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
    steps_done = [
        threads.HistoryStep(each.client, each.step, op, each.start, each.end, write_outcome(each.outcome))
        for each, op in zip(events, history.steps, strict=True)
    ]
    record = threads.Record(config, len(clients), tuple(steps_done))
    return {rule for rule, _ in threads.judge_history(record, write_outcome).broken}


def check_always_kept(rule, before, clients, **settings):
    for _ in range(TIMES):
        broken_rules = broken(before, clients, **settings)
        assert broken_rules is not None
        assert rule not in broken_rules


def put(ns, key, value, dirty=True):
    return Put(ns, key, value, dirty)


@pytest.mark.rule("K-CONCURRENCY-1")
def test_k_concurrency_1__listeners_that_use_each_others_namespace_do_not_deadlock():
    before = [Listen("a", (Get("b", "x"),)), Listen("b", (Get("a", "x"),)), put("a", "x", "1"), put("b", "x", "2")]
    for _ in range(TIMES):
        assert broken(before, [[Flush("a")], [Flush("b")]], ("a", "b")) is not None


@pytest.mark.rule("K-CONCURRENCY-2")
def test_k_concurrency_2__the_quiescent_running_total_is_the_sum():
    clients = [[put("a", "x", "1")], [put("a", "y", "2")]]
    check_always_kept(Rule.K_CONCURRENCY_2, [Listen("a")], clients)


@pytest.mark.rule("K-CONCURRENCY-3")
def test_k_concurrency_3__every_get_is_counted():
    check_always_kept(Rule.K_CONCURRENCY_3, [], [[Get("a", "x")] * 3, [Get("a", "x")] * 3])


@pytest.mark.rule("K-CONCURRENCY-4")
def test_k_concurrency_4__two_flushes_do_not_deliver_the_same_entry():
    check_always_kept(Rule.K_CONCURRENCY_4, [Listen("a"), put("a", "x", "1")], [[Flush("a")], [Flush("a")]])


@pytest.mark.rule("K-CONCURRENCY-5")
def test_k_concurrency_5__two_concurrent_writes_are_both_kept():
    clients = [[put("a", "x", "1"), Get("a", "x")], [put("a", "y", "2"), Get("a", "y")]]
    check_always_kept(Rule.K_CONCURRENCY_5, [Listen("a")], clients)


@pytest.mark.rule("K-CONCURRENCY-6")
def test_k_concurrency_6__a_reader_sees_the_writes_of_another_thread():
    writes = [put("a", "x", str(number)) for number in range(4)]
    reads = [put("a", "z", "9"), *[Get("a", "x")] * 8]
    check_always_kept(Rule.K_CONCURRENCY_6, [Listen("a"), put("a", "x", "first")], [writes, reads])


@pytest.mark.rule("K-CONCURRENCY-7")
def test_k_concurrency_7__of_two_writes_into_the_last_room_one_stays():
    clients = [[put("a", "x", "1")], [put("b", "y", "2")]]
    before = [Listen("a"), Listen("b")]
    check_always_kept(Rule.K_CONCURRENCY_7, before, clients, namespaces=("a", "b"), max_size_bytes=47)
