"""Lemmas about single steps of `kafka-streams`: its own laws after each operation, on any sizes and limits.

A `Case` is an operation on a cache of two entries and another namespace. `build_lemma` builds the lemma of a rule from
its law: the step of the model runs on terms, and the law has to hold on every path. `FOLDS` are the loops over any
number of writes and of dirty entries.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import Any, Final

import z3

from entrycache_evidence.core.models import FAULT_OF
from entrycache_evidence.induction import lemma, symbolic
from entrycache_evidence.induction.turns import Fold, Unknown, Visit, any_tuple
from entrycache_evidence.kafka_streams import runs, size_lemmas
from entrycache_faults.model import Model, Place
from entrycache_reference.kafka_streams import flush, ops, outcomes, stores, view_ops, views
from entrycache_reference.kafka_streams.config import Config
from entrycache_reference.kafka_streams.entries import put_all
from entrycache_reference.kafka_streams.laws import LAWS
from entrycache_reference.kafka_streams.laws.law import Law
from entrycache_reference.kafka_streams.state import Change, Listener, Node, Space, State, Step, Store
from entrycache_reference.rules import Rule

COUNTERS: Final = ("puts", "gets", "evicts", "flushes")
OF_SPACE: Final = ("hits", "misses", "overwrites", "flushes")
PERFORMING: Final = Listener((ops.Flush("b"), ops.Get("b", "all")))
"""A listener whose first step fails, because nobody listens in `b`."""
SETTINGS: Final = (
    *size_lemmas.ALL_CONTENTS,
    *(one._replace(listener=PERFORMING) for one in size_lemmas.ALL_CONTENTS if one.listener == Listener()),
)

_LIMIT: Any = symbolic.Term(size_lemmas.LOWER)
EVENTS: Final[tuple[ops.Op, ...]] = (
    *(ops.Put("a", key, value, dirty) for key, value, dirty in product("xy", ("1", None), (False, True))),
    *(ops.Put("c", "x", value, True) for value in ("1", None)),
    ops.PutAll("a", (ops.Write("x", "1", True), ops.Write("y", "1"))),
    ops.PutAll("a", (ops.Write("x", "1"), ops.Write("y", "1", True))),
    ops.PutAll("a", ()),
    *(ops.PutIfAbsent("a", key, "1", dirty) for key, dirty in product("xy", (False, True))),
    ops.PutIfAbsent("c", "x", "1"),
    *(ops.Get(ns, key) for ns, key in (("a", "x"), ("a", "y"), ("c", "x"), ("a", None))),
    *(ops.Delete("a", key) for key in "xy"),
    ops.Range("a", "rest", "x", True),
    ops.Range("a", "rest", "x", False),
    ops.ReverseRange("a", "rest", "x"),
    ops.All("a"),
    ops.ReverseAll("a"),
    ops.Listen("a", (), 1),
    *(make(ns) for make in (ops.Flush, ops.Evict, ops.Clear, ops.Close) for ns in ("a", "c", "d")),
    ops.Resize(_LIMIT),
    *(make(*ns) for make in (ops.Usage, ops.Metrics) for ns in ((), ("a",))),
)
"""Every operation of level `cache`: on the entry, on an absent key, and in a present or absent namespace."""


DEFAULT: Final = Config()


@dataclass(frozen=True, eq=False)
class Case:
    """One operation on a cache with these entries."""

    held: size_lemmas.CacheContents
    op: ops.Op
    config: Config = DEFAULT

    @property
    def name(self) -> str:
        """The name of the case."""
        read = "" if self.config is DEFAULT else ", all variants of the releases"
        return f"{self.op}, {self.held}{read}"

    def state(self) -> State:
        """Return the cache, with counters of any value."""
        state = size_lemmas.build_cache(self.held)
        own = {name: symbolic.Term(z3.Int(f"a.{name}")) for name in OF_SPACE}
        space = state.spaces["a"]._replace(**own)  # type: ignore[arg-type]
        nodes = {key: node._replace(context=outcomes.Context(1, 2, 3)) for key, node in space.nodes.items()}
        spaces = {**state.spaces, "a": space._replace(nodes=nodes), "d": Space()}
        counters = {name: symbolic.Term(z3.Int(name)) for name in COUNTERS}
        return state._replace(spaces=spaces, **counters)  # type: ignore[arg-type]


RELEASED_CONFIG: Final = Config(variants=runs.RELEASED)
CASES: Final = (
    *(Case(contents, op) for op in EVENTS for contents in SETTINGS),
    *(
        Case(contents, op, RELEASED_CONFIG)
        for op in EVENTS
        if isinstance(op, ops.Flush | ops.Evict)
        for contents in SETTINGS
    ),
)


@cache
def _term_model(model: Model) -> Model:
    return lemma.build_term_model(model, {"change.size_bytes": lambda *_: symbolic.Term(size_lemmas.NEW)})


@cache
def paths_of_case(model: Model, case: Case) -> tuple[State, tuple[tuple[Any, Step], ...]]:
    """Return the state before, and the steps that the model makes of it, each with its condition."""
    pre = case.state()
    return pre, tuple(symbolic.paths(lambda: _term_model(model).step(pre, case.op, case.config), size_lemmas.SIZES))


def obligations_of(law: Law, model: Model) -> Iterator[lemma.Obligation]:
    """Yield the obligations of the law after each of its operations, if it applies."""
    for case in sorted(CASES, key=lambda case: type(case.op) not in model.replaced):
        if law.on and type(case.op) not in law.on:
            continue
        pre, steps = paths_of_case(model, case)

        def judged(step: Step, case: Case = case, pre: State = pre) -> tuple[bool, bool]:
            is_about = bool(law.guard(case.config, pre, case.op, step))
            return is_about, not is_about or bool(law.holds(case.config, pre, case.op, step))

        yield from lemma.law_obligations(case.name, size_lemmas.SIZES, steps, judged)


def _usage_done(
    state: State, event: ops.Usage, config: Config, env: flush.Environment
) -> tuple[State, outcomes.Answer]:
    return state, outcomes.Done()


OWN_FAULTS: Final = {
    Rule.K_LIVENESS_2: lemma.LemmaFault(
        "usage answers that it is done.",
        Model(FAULT_OF[Rule.K_LIVENESS_2].package, {ops.Usage: _usage_done}),
    )
}
"""The faults of rules whose seeded fault is in an operation of a higher level."""


def build_lemma(rule: Rule) -> lemma.Lemma:
    """Build the lemma of a rule from its law."""
    law = next(law for law in LAWS if law.rule is rule)
    named = "every operation of level cache" if not law.on else ", ".join(op.name for op in law.on)
    fault = OWN_FAULTS.get(rule) or lemma.LemmaFault(FAULT_OF[rule].note, FAULT_OF[rule].model)
    return lemma.Lemma(
        rule,
        f"the law itself, after {named}; an entry, the rest of its namespace as one, another namespace as one; any "
        "sizes, counters and limits",
        lambda table, model: obligations_of(law, model),
        fault,
    )


RULES: Final = (
    *(Rule.K_PUT_1, Rule.K_PUT_2, Rule.K_PUT_3, Rule.K_PUT_4, Rule.K_PUT_5, Rule.K_PUT_6, Rule.K_PUT_7, Rule.K_PUT_8),
    *(Rule.K_GET_1, Rule.K_GET_2, Rule.K_GET_3, Rule.K_GET_4, Rule.K_DELETE_1, Rule.K_DELETE_2),
    *(Rule.K_RANGE_1, Rule.K_RANGE_2, Rule.K_RANGE_3, Rule.K_LISTEN_1, Rule.K_LISTEN_2, Rule.K_LISTEN_4),
    *(Rule.K_EVICT_1, Rule.K_EVICT_2, Rule.K_EVICT_3, Rule.K_EVICT_4, Rule.K_EVICT_5, Rule.K_EVICT_6, Rule.K_EVICT_7),
    *(Rule.K_FLUSH_1, Rule.K_FLUSH_2, Rule.K_FLUSH_3, Rule.K_FLUSH_4, Rule.K_FLUSH_5, Rule.K_FLUSH_6),
    *(Rule.K_FLUSH_7, Rule.K_FLUSH_8),
    *(Rule.K_LISTEN_5, Rule.K_CLOSE_1, Rule.K_CLOSE_2, Rule.K_RESIZE_1, Rule.K_RESIZE_2, Rule.K_RESIZE_3),
    *(Rule.K_METRICS_2, Rule.K_METRICS_3, Rule.K_LIVENESS_2),
)
"""The rules of level `cache`, without those about sums, which `size_lemmas` proves."""


# --- Loops over writes and dirty entries

KEYS: Final = ("x", "y", "z", "w")
TOMBSTONES: Final = tuple((key, Node(None, True, 10, outcomes.Context(), at)) for at, key in enumerate(KEYS))
WRITES: Final = tuple((key, node._replace(value="1")) for key, node in TOMBSTONES)
FLUSHED: Final = Space(dict(TOMBSTONES), KEYS[::-1], KEYS, Listener())
STATE: Final = State(1000, {"a": FLUSHED}, stores={"a": Store()})

_EVENT: Final = Visit(lambda state, rule, op, ns, key, node, *cause: key, lambda state, *about: state)

_CALL: Final = Visit(lambda state, ns, listener, entries, *about: tuple(key for key, _ in entries), _EVENT.answer)


def _put_all(model: Model) -> Any:
    writes = any_tuple((ops.Write(key, "1") for key in KEYS), "state event config env after write change")
    return model["entries.put_all"](STATE, ops.PutAll("a", writes), DEFAULT, model["step.build_environment"]())


def _deliver(model: Model) -> Any:
    entries = any_tuple(WRITES, "state ns evicted entries config env listener after key node")
    return model["flush.deliver_entries"](STATE, "a", None, entries, DEFAULT, model["step.build_environment"]())


def _drop(model: Model) -> Any:
    return model["flush.without_tombstones"](STATE, "a", any_tuple(TOMBSTONES, "state ns entries after key node now"))


def _receive(model: Model) -> Any:
    entries = any_tuple(WRITES, "state name entries config env after accepted key node store")
    return model["stores.receive"](STATE, "a", entries, DEFAULT, model["step.build_environment"]())


def _forward(model: Model) -> Any:
    accepted = any_tuple(WRITES, "state name accepted config env after key node store is_overtaken")
    return model["stores.forward_accepted"](STATE, "a", accepted, DEFAULT, model["step.build_environment"]())


def _receive_one_by_one(model: Model) -> Any:
    entries = any_tuple(WRITES, "state name entries config env after key node store below")
    return model["stores.receive_one_by_one"](STATE, "a", entries, DEFAULT, model["step.build_environment"]())


SPACES: Final = "abcd"


def _resize(model: Model) -> Any:
    """Run a round over namespaces of any number; the total is within the limit once each has been taken from."""
    state = STATE._replace(max_size_bytes=2000, spaces=dict.fromkeys(SPACES, Space()), evicts=0)
    names = any_tuple(SPACES, "state event config env after ns change")
    totals = iter([2000] * (3 * len(SPACES)))

    def total_bytes(state: State) -> int:
        left = next(totals, None)
        if left is None:
            raise Unknown("a round takes nothing")
        return left if state.evicts < len(SPACES) else 0

    places: dict[Place, object] = {"namespaces.sorted": lambda spaces: names, "namespaces.total_bytes": total_bytes}
    term_model = lemma.build_term_model(model, {**model.replaced, **places})
    return term_model["namespaces.resize"](state, ops.Resize(1000), DEFAULT, model["step.build_environment"]())


def _list_view(model: Model) -> Any:
    keys = any_tuple(KEYS, "state event backward config after nodes inner selects view key")
    places: dict[Place, object] = {
        "views.order_keys": lambda nodes, selects, backward: keys,
        "views.merge": lambda *about: (),
    }
    listing = lemma.build_term_model(model, {**model.replaced, **places})["views.list_view"]
    return listing(STATE, view_ops.StoreView("a"), False, DEFAULT)


def _put_in_store(model: Model) -> Any:
    entries = any_tuple(((key, "1") for key in KEYS), "state event config env change key value node")
    event = view_ops.StorePutAll("a", entries)
    return model["views.store_put_all"](STATE, event, DEFAULT, model["step.build_environment"]())


def _list_nothing(state: State, event: Any, backward: bool, config: Config) -> Any:
    return state, outcomes.Listing(())


def _put_less_in_store(state: State, event: Any, config: Config, env: flush.Environment) -> Any:
    return views.store_put_all(state, replace(event, entries=_without_the_last(event.entries)), config, env)


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


def _fault(note: str, place: str, replacement: object) -> lemma.LemmaFault:
    return lemma.LemmaFault(note, Model(FAULT_OF[Rule.K_PUT_6].package, {place: replacement}))


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
        Rule.K_FLUSH_1,
        "a store that a flush hands its entries to writes all below, then forwards all",
        "stores.receive",
        {
            "stores.write_underlying": Visit(lambda inner, key, value: key, lambda inner, *about: inner),
            "stores.forward_accepted": Visit(
                lambda state, name, accepted, *about: ("forwards", *(key for key, _ in accepted)),
                lambda state, *about: state,
            ),
        },
        _receive,
        (*KEYS, ("forwards", *KEYS)),
        _fault("A store forgets the last entry that it receives.", "stores.receive", _receive_less),
    ),
    Fold(
        Rule.K_STORE_3,
        "a store forwards what it has written below",
        "stores.forward_accepted",
        {"stores.forward_entry": Visit(lambda state, name, key, *about: key, lambda state, *about: state)},
        _forward,
        KEYS,
        _fault("A store forwards nothing.", "stores.forward_accepted", lambda state, *about: state),
    ),
    Fold(
        Rule.K_STORE_9,
        "a store that forwards one by one writes each entry below, then forwards it",
        "stores.receive_one_by_one",
        {
            "stores.write_underlying": Visit(lambda inner, key, value: ("below", key), lambda inner, *about: inner),
            "stores.forward_entry": Visit(lambda state, name, key, *about: key, lambda state, *about: state),
        },
        _receive_one_by_one,
        tuple(one for key in KEYS for one in (("below", key), key)),
        _fault(
            "A store that forwards one by one takes nothing.", "stores.receive_one_by_one", lambda state, *about: state
        ),
    ),
    Fold(
        Rule.K_RESIZE_2,
        "a round of resize takes one entry of each namespace, by name, while the total is above the limit",
        "namespaces.resize",
        {
            "namespaces.evict_eldest": Visit(
                lambda state, ns, *about: (ns, state.evicts), lambda state, *about: Change(state)
            )
        },
        _resize,
        tuple((ns, at) for at, ns in enumerate(SPACES)),
        _fault("A lower limit evicts nothing.", "namespaces.resize", lambda state, *about: (state, outcomes.Done())),
    ),
    Fold(
        Rule.K_VIEW_2,
        "a view looks up the cached keys in it",
        "views.list_view",
        {"views.look_up": Visit(lambda state, ns, key: key, lambda state, *about: state)},
        _list_view,
        KEYS,
        _fault("A view looks nothing up.", "views.list_view", _list_nothing),
    ),
    Fold(
        Rule.K_STORE_1,
        "the writes of store_put_all are a fold of put",
        "views.store_put_all",
        {"views.put_node": Visit(lambda state, ns, key, *about: key, lambda state, *about: Change(state))},
        _put_in_store,
        KEYS,
        _fault("The last write of a batch to a store is left out.", "views.store_put_all", _put_less_in_store),
    ),
)

LEMMAS: Final = (*(build_lemma(rule) for rule in RULES), *(fold.lemma() for fold in FOLDS))
