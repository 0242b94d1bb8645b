"""Lemmas of `kafka-streams` about loops over writes, dirty entries and steps: each treats any number of elements."""

from dataclasses import replace
from typing import Any, Final

from entrycache_evidence.core.models import FAULT_OF
from entrycache_evidence.induction.folds import Fold, Visit
from entrycache_evidence.induction.lemma import LemmaFault
from entrycache_evidence.induction.turns import any_tuple
from entrycache_faults.model import Model
from entrycache_reference.kafka_streams import flush, ops, outcomes, stores
from entrycache_reference.kafka_streams.config import Config
from entrycache_reference.kafka_streams.entries import put_all
from entrycache_reference.kafka_streams.state import Change, Listener, Node, Space, State, Store
from entrycache_reference.rules import Rule

KEYS: Final = ("x", "y", "z", "w")
CONFIG: Final = Config(1000)
TOMBSTONES: Final = tuple((key, Node(None, True, 10, outcomes.Context(), at)) for at, key in enumerate(KEYS))
WRITES: Final = tuple((key, node._replace(value="1")) for key, node in TOMBSTONES)
SPACE: Final = Space(dict(TOMBSTONES), KEYS[::-1], KEYS, Listener())
STATE: Final = State(1000, {"a": SPACE}, stores={"a": Store()})

_EVENT: Final = Visit(lambda state, rule, op, ns, key, node, *cause: key, lambda state, *about: state)

_CALL: Final = Visit(lambda state, ns, listener, entries, *about: tuple(key for key, _ in entries), _EVENT.answer)


def _put_all(model: Model) -> Any:
    writes = any_tuple((ops.Write(key, "1") for key in KEYS), "state event config env after write change")
    return model["entries.put_all"](STATE, ops.PutAll("a", writes), CONFIG, model["step.build_environment"]())


def _deliver(model: Model) -> Any:
    entries = any_tuple(WRITES, "state ns evicted entries config env listener after key node")
    return model["flush.deliver_entries"](STATE, "a", None, entries, CONFIG, model["step.build_environment"]())


def _drop(model: Model) -> Any:
    return model["flush.without_tombstones"](STATE, "a", any_tuple(TOMBSTONES, "state ns entries after key node now"))


def _receive(model: Model) -> Any:
    entries = any_tuple(WRITES, "state name entries config env after accepted key node store")
    return model["stores.receive"](STATE, "a", entries, CONFIG, model["step.build_environment"]())


def _without_the_last(entries: Any) -> Any:
    return tuple(one for one in entries if one[0] != KEYS[-1])


def _deliver_less(state: State, ns: str, evicted: Any, entries: Any, config: Config, env: flush.Environment) -> State:
    return flush.deliver_entries(state, ns, evicted, _without_the_last(entries), config, env)


def _receive_less(state: State, name: str, entries: Any, config: Config, env: flush.Environment) -> State:
    return stores.receive(state, name, _without_the_last(entries), config, env)


def _drop_less(state: State, ns: str, entries: Any) -> State:
    return flush.without_tombstones(state, ns, _without_the_last(entries))


def _put_less(state: State, event: ops.PutAll, config: Config, env: flush.Environment) -> Any:
    less = tuple(one for one in event.entries if one.key != KEYS[-1])
    return put_all(state, replace(event, entries=less), config, env)


def _fault(note: str, place: str, replacement: object) -> LemmaFault:
    return LemmaFault(note, Model(FAULT_OF[Rule.K_PUT_6].package, {place: replacement}))


FOLDS: Final = (
    Fold(
        Rule.K_PUT_6,
        "the writes of put_all are a fold of put",
        "entries.put_all",
        {"entries.put_node": Visit(lambda state, ns, key, *about: key, lambda state, *about: Change(state))},
        _put_all,
        KEYS,
        _fault("The last write of a batch is left out.", "entries.put_all", _put_less),
    ),
    Fold(
        Rule.K_FLUSH_1,
        "a flush reports the entries, then hands them all over",
        "flush.deliver_entries",
        {"flush.with_entry_event": _EVENT, "flush.call_listener": _CALL},
        _deliver,
        (*KEYS, KEYS),
        _fault("A flush leaves out its last entry.", "flush.deliver_entries", _deliver_less),
    ),
    Fold(
        Rule.K_FLUSH_4,
        "after a flush, its tombstones leave",
        "flush.without_tombstones",
        {"flush.with_entry_event": _EVENT},
        _drop,
        KEYS,
        _fault("The last tombstone of a flush stays.", "flush.without_tombstones", _drop_less),
    ),
    Fold(
        Rule.K_STORE_1,
        "a store forwards the entries that it receives",
        "stores.receive",
        {"stores.forward_entry": Visit(lambda state, name, key, *about: key, lambda state, *about: state)},
        _receive,
        KEYS,
        _fault("A store forgets the last entry that it receives.", "stores.receive", _receive_less),
    ),
)
LEMMAS: Final = tuple(fold.lemma() for fold in FOLDS)
"""The lemmas about loops over sequences."""
