"""One mutant a rule of `kafka-streams`."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Final

from entrycache_faults import wrong_streams as wrong
from entrycache_faults import wrong_streams_flush as calls
from entrycache_faults import wrong_streams_stores as below
from entrycache_faults.mutants.mutant import Mutant
from entrycache_faults.mutants.stream_variants import STREAM_VARIANTS
from entrycache_reference.kafka_streams import flush, listeners, ops, size, stores, writes
from entrycache_reference.rules import Rule

_STEP: Final = importlib.import_module("entrycache_reference.kafka_streams.step")
"""The module: its package has a function of that name."""


def _op(rule: Rule, note: str, op: type[ops.Op], function: wrong.Function) -> Mutant:
    return Mutant(rule, note, ((_STEP, "FUNCTIONS", {**_STEP.FUNCTIONS, op: function}),))


def _in(rule: Rule, note: str, module: ModuleType, name: str, function: object) -> Mutant:
    return Mutant(rule, note, ((module, name, function),))


STREAMS: Final[tuple[Mutant, ...]] = (
    _in(Rule.K_SIZE_1, "Topics and header keys count in UTF-8.", size, "utf16_units", size.utf8_bytes),
    _in(
        Rule.K_PUT_1,
        "An overwritten key keeps its place.",
        writes,
        "written",
        wrong.written_in_place,
    ),
    _in(Rule.K_PUT_2, "An overwrite is not counted.", writes, "written", wrong.written_uncounted),
    _in(Rule.K_PUT_3, "A dirty key written again keeps its turn.", writes, "written", wrong.written_keeping_its_turn),
    _op(Rule.K_PUT_4, "A clean write replaces a dirty entry.", ops.Put, wrong.put_clean_over_dirty),
    _op(Rule.K_PUT_5, "A tombstone opens no namespace.", ops.Put, wrong.put_opening_nothing),
    _op(Rule.K_PUT_6, "An error does not end a batch.", ops.PutAll, wrong.put_all_going_on),
    _op(Rule.K_PUT_7, "put_if_absent counts no lookup.", ops.PutIfAbsent, wrong.put_if_absent_not_looking),
    _op(Rule.K_PUT_8, "Every put_if_absent counts as a put.", ops.PutIfAbsent, wrong.put_if_absent_counting),
    _op(Rule.K_GET_1, "A hit leaves the order of use alone.", ops.Get, wrong.get_not_using),
    _op(Rule.K_GET_2, "A miss is not counted.", ops.Get, wrong.get_not_missing),
    _op(Rule.K_GET_3, "A get without a key is not counted.", ops.Get, wrong.get_counting_keys_only),
    _op(Rule.K_GET_4, "A get opens its namespace.", ops.Get, wrong.get_opening),
    _op(Rule.K_RANGE_1, "The end belongs to every range.", ops.Range, wrong.range_including_its_end),
    _op(Rule.K_RANGE_2, "Iterating leaves the order of use alone.", ops.All, wrong.all_not_using),
    _op(Rule.K_RANGE_3, "A reverse lookup answers ascending.", ops.ReverseAll, wrong.reverse_all_ascending),
    _op(Rule.K_DELETE_1, "A delete does not answer what was there.", ops.Delete, wrong.delete_answering_nothing),
    _op(Rule.K_DELETE_2, "A delete counts as a hit.", ops.Delete, wrong.delete_counting),
    _op(Rule.K_EVICT_1, "An eviction from nothing is a flush.", ops.Evict, calls.evict_of_nothing_flushing),
    _op(Rule.K_EVICT_2, "Dropping a clean entry counts as a miss.", ops.Evict, calls.evict_counting_a_miss),
    _op(Rule.K_EVICT_3, "The evicted entry is handed over last.", ops.Evict, calls.evict_handing_over_last),
    _in(Rule.K_EVICT_4, "One eviction has to do.", writes, "maybe_evict", calls.relieve_once),
    _in(Rule.K_EVICT_5, "The limit itself is too much.", writes, "maybe_evict", calls.relieve_at_the_limit),
    _in(Rule.K_EVICT_6, "Evictions of an overflow are not counted.", writes, "maybe_evict", calls.relieve_uncounted),
    _op(Rule.K_EVICT_7, "The thread counts an eviction by a call.", ops.Evict, calls.evict_counted),
    _op(Rule.K_FLUSH_1, "A flush hands over in the order of keys.", ops.Flush, calls.flush_by_key),
    _in(Rule.K_FLUSH_2, "Entries that were handed over keep their flag.", flush, "cleaned", calls.cleaned_half),
    _op(Rule.K_FLUSH_3, "What a listener refused counts as handed over.", ops.Flush, calls.flush_losing),
    _in(Rule.K_FLUSH_4, "Tombstones stay after a flush.", flush, "without_tombstones", calls.tombstones_kept),
    _op(Rule.K_FLUSH_5, "What a flush looks up is not counted.", ops.Flush, calls.flush_uncounted),
    _op(Rule.K_FLUSH_6, "A flush of nothing is not counted.", ops.Flush, calls.flush_of_nothing_uncounted),
    _op(Rule.K_LISTEN_1, "The context of a write is lost.", ops.Flush, calls.flush_without_context),
    _in(Rule.K_LISTEN_2, "The first error ends a listener.", listeners, "performed", calls.performed_until_an_error),
    _in(Rule.K_LISTEN_3, "One call too many performs its steps.", listeners, "performed", calls.performed_once_more),
    _op(Rule.K_LISTEN_4, "A call that throws is not used up.", ops.Flush, calls.flush_failing_for_ever),
    _op(Rule.K_LISTEN_5, "The first listener stays.", ops.Listen, calls.listen_once),
    _op(Rule.K_CLOSE_1, "clear resets the counters.", ops.Clear, calls.clear_resetting),
    _op(Rule.K_CLOSE_2, "A closed namespace is an empty one.", ops.Close, calls.close_emptying),
    _op(Rule.K_RESIZE_1, "A larger limit does not come into force.", ops.Resize, calls.resize_shrinking_only),
    _op(Rule.K_RESIZE_2, "One namespace is emptied before the next one pays.", ops.Resize, calls.resize_one_by_one),
    _op(Rule.K_RESIZE_3, "The evictions of a resize are not counted.", ops.Resize, calls.resize_uncounted),
    _op(Rule.K_METRICS_1, "Tombstones are no entries.", ops.Usage, wrong.usage_without_tombstones),
    _op(Rule.K_METRICS_2, "The thread's puts and gets are swapped.", ops.Metrics, wrong.metrics_of_thread_swapped),
    _op(Rule.K_METRICS_3, "The order of use begins with the eldest.", ops.Metrics, wrong.metrics_eldest_first),
    _op(Rule.K_STORE_1, "A deleted key is looked for below.", ops.StoreGet, below.store_get_below),
    _op(Rule.K_STORE_2, "What was deleted stays below.", ops.StoreFlush, below.store_flush_keeping_deleted),
    _op(Rule.K_STORE_3, "Every tombstone is forwarded.", ops.StoreFlush, below.store_flush_forwarding_unknown),
    _in(Rule.K_STORE_4, "An overtaken write is passed on.", stores, "receive", below.receive_late),
    _in(Rule.K_STORE_5, "Nothing is done downstream.", stores, "performed", below.performed_nothing),
    _op(Rule.K_STORE_6, "What was read from below is not cached.", ops.StoreGet, below.store_get_not_caching),
    _op(
        Rule.K_STORE_7,
        "Deleting what is not there writes nothing.",
        ops.StoreDelete,
        below.store_delete_of_known,
    ),
    _op(Rule.K_STORE_8, "A deleted key shows through.", ops.StoreAll, below.store_all_with_deleted),
    _op(Rule.K_SHARE_1, "The global thread gets nothing.", ops.Share, below.share_for_threads_only),
    _op(Rule.K_LIVENESS_1, "An eviction is done again and again.", ops.Evict, calls.evict_told_twice),
    _op(Rule.K_LIVENESS_2, "A listing is answered by one value.", ops.StoreInner, below.store_inner_of_one),
    *STREAM_VARIANTS,
)
