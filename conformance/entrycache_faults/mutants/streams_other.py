"""Other ways to break a rule of `kafka-streams`; a failure that answers like one of them is explained by its rule."""

from __future__ import annotations

import importlib
from typing import Final

from entrycache_faults import wrong_streams_other as wrong
from entrycache_faults.mutants.mutant import Mutant
from entrycache_reference.kafka_streams import flush, namespaces, ops, stores, writes
from entrycache_reference.rules import Rule

_STEP: Final = importlib.import_module("entrycache_reference.kafka_streams.step")
"""The module: its package has a function of that name."""


def _op(rule: Rule, note: str, op: type[ops.Op], function: wrong.Function) -> Mutant:
    return Mutant(rule, note, ((_STEP, "FUNCTIONS", {**_STEP.FUNCTIONS, op: function}),))


OTHER_STREAMS: Final[tuple[Mutant, ...]] = (
    Mutant(
        Rule.K_EVICT_1,
        "The most recent entry is evicted.",
        ((writes, "evict_eldest", wrong.evict_newest), (namespaces, "evict_eldest", wrong.evict_newest)),
    ),
    Mutant(
        Rule.K_EVICT_4,
        "The namespace that holds most entries pays.",
        ((writes, "maybe_evict", wrong.relieve_the_fullest),),
    ),
    Mutant(
        Rule.K_EVICT_3,
        "The evicted entry comes last.",
        ((flush, "flush_dirty", wrong.hand_over_evicted_last),),
    ),
    Mutant(
        Rule.K_FLUSH_3,
        "What could not be evicted is the most recent.",
        ((flush, "flush_dirty", wrong.hand_over_back_as_newest),),
    ),
    Mutant(Rule.K_PUT_2, "The former size is not subtracted.", ((writes, "written", wrong.written_adding),)),
    Mutant(
        Rule.K_SIZE_1,
        "A tombstone counts its key.",
        ((writes, "size_bytes", wrong.size_of_key_only), (stores, "size_bytes", wrong.size_of_key_only)),
    ),
    _op(
        Rule.K_PUT_8,
        "put_if_absent of a key that is there evicts nothing.",
        ops.PutIfAbsent,
        wrong.put_if_absent_not_paying,
    ),
    _op(Rule.K_RANGE_1, "The end belongs to no range.", ops.Range, wrong.range_excluding_its_end),
    _op(Rule.K_RESIZE_1, "A resize that fails is undone.", ops.Resize, wrong.resize_undone),
    _op(Rule.K_CLOSE_1, "clear drops the listener.", ops.Clear, wrong.clear_with_listener),
    _op(Rule.K_METRICS_3, "The dirty keys come in the order of use.", ops.Metrics, wrong.metrics_dirty_by_use),
    Mutant(Rule.K_STORE_6, "A value read from below is dirty.", ((stores, "node_of", wrong.node_dirty),)),
    _op(Rule.K_STORE_2, "A deletion goes through at once.", ops.StoreDelete, wrong.store_delete_through),
    Mutant(Rule.K_STORE_4, "Passed on before it lies below.", ((stores, "receive", wrong.receive_below_last),)),
)
