"""Lemmas about single steps of `kafka-streams`: its own laws after each operation, on any sizes and limits.

A `Case` is an operation on a cache of two entries and another namespace. `build_lemma` builds the lemma of a rule from
its law: the step of the model runs on terms, and the law has to hold on every path. `FOLDS` are the loops over any
number of writes and of dirty entries.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import Any, Final

import z3

from entrycache_evidence.core.models import FAULT_OF
from entrycache_evidence.induction import lemma, symbolic
from entrycache_evidence.induction.turns import Fold, Unknown, Visit, any_mapping, any_tuple, forget_counts
from entrycache_evidence.kafka_streams import runs, size_lemmas
from entrycache_faults.model import Model, Place
from entrycache_reference.kafka_streams import flush, ops, outcomes, stores, view_ops, views
from entrycache_reference.kafka_streams.change import NamespaceHandle
from entrycache_reference.kafka_streams.config import Config
from entrycache_reference.kafka_streams.entries import put_all
from entrycache_reference.kafka_streams.laws import LAWS
from entrycache_reference.kafka_streams.laws.law import Law
from entrycache_reference.kafka_streams.state import (
    Change,
    Event,
    Listener,
    Node,
    OpenView,
    Space,
    State,
    Step,
    Store,
    with_space,
)
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


def _list_nothing(state: State, *about: Any) -> Any:
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

# --- Loops over events, keys and entries that a call has to put back, to drop, to report or to merge

_NOT_DELIVERED: Final = Visit(lambda state, rule, op, ns, key, *about: (op, key), lambda state, *about: state)
_INNER: Final = {"x": "1", "z": "2", "w": "3"}
_CACHED: Final = {"y": dict(WRITES)["y"], "w": dict(TOMBSTONES)["w"]}
"""The content of a store and of its cache: a cached entry comes after one of the store, a tombstone after another."""


def _list(model: Model) -> Any:
    """Run the loop of an iteration; return what it lists."""
    after, answer = model["entries.list_entries"](STATE, "a", any_tuple(KEYS, "state ns keys after entries key"))
    return after, tuple(key for key, _ in answer.entries)


def _touch(model: Model) -> Any:
    """Run the loop over the events of a call: it evicts all keys but one, which it writes."""
    ops_of = {key: "PUT" if key == "z" else "EVICT" for key in KEYS}
    events = (Event(Rule.K_FAIL_1, ops_of[key], 0, "a", key, node) for key, node in WRITES)
    after_call = any_tuple(events, "events keys lasting gone event key is_copy")
    return model["flush.untouched_keys"](after_call, ("v", *KEYS))


def _put_back(model: Model) -> Any:
    known = "state ns dirty back gone after space recent again key node"
    state = with_space(STATE, "a", Space())
    back, gone = any_mapping(dict(WRITES), known), any_tuple(KEYS[::-1], known)
    return model["flush.put_back"](state, "a", KEYS, back, gone)


def _space_after(state: State) -> Iterator[object]:
    space = state.spaces["a"]
    yield space.recent, space.dirty, tuple(sorted(space.nodes))


def _drop_any_write(model: Model) -> Any:
    keys = any_tuple(KEYS, "state handle keys after key node")
    return model["flush.without_keys"](STATE, NamespaceHandle("a", 0), keys)


def _report(model: Model) -> Any:
    keys = any_tuple(KEYS, "state ns evicted space after key")
    places: dict[Place, object] = {"flush.order_flushed_keys": lambda space, evicted: keys}
    return lemma.build_term_model(model, {**model.replaced, **places})["flush.report_undelivered"](STATE, "a", None)


def _report_removed(model: Model) -> Any:
    space = FLUSHED._replace(recent=any_tuple(KEYS, "state ns space rule cause after key"))
    return model["namespaces.report_removed_entries"](STATE, "a", space, Rule.K_CLOSE_1, "CLOSE")


def _merge(model: Model) -> Any:
    keys = any_tuple(KEYS, "keys nodes inner entries key")
    return model["stores.merge_as_released"](keys, _CACHED, _INNER)


def _list_store(model: Model) -> Any:
    keys = any_tuple(KEYS, "state name first last config after below view key")
    places: dict[Place, object] = {"stores.keys_between": lambda *about: keys}
    state = with_space(STATE, "a", FLUSHED._replace(nodes=dict(WRITES)))
    listing = lemma.build_term_model(model, {**model.replaced, **places})["stores.list_merged_view"]
    return listing(state, "a", None, None, DEFAULT)


class _AnyStack(list[str]):
    """The keys that are left of one side of a view; once the first has come, the loop comes to any turn."""

    has_popped = False

    def pop(self, at: Any = -1) -> str:
        """Take the first key."""
        if not self.has_popped:
            forget_counts(sys._getframe(1), _OF_MERGE)
        self.has_popped = True
        return super().pop(at)


_OF_MERGE: Final = frozenset("cached stored ranks entries is_hidden dropped key".split())
"""The variables of `merge_backward_as_released`; none of them counts turns."""


def _merge_backward(model: Model) -> Any:
    """Run the loop over both sides of a backward view; its ranks come from the keys of both."""
    nodes = {key: dict(WRITES)[key] for key in "xy"}
    merge = model["views.merge_backward_as_released"]
    return merge(views.View(("y", "x"), ("z", "w")), ("w", "x", "y", "z"), nodes, _INNER)


def _watch(model: Model) -> Any:
    writes = any_tuple(((key, "1") for key in KEYS), "state view config event now had key value")
    places: dict[Place, object] = {"views.values_now": lambda *about: {}}
    watch = lemma.build_term_model(model, {**model.replaced, **places})["views.watch_view"]
    view = OpenView(view_ops.ViewOpen("view", "a"), {})
    return watch(STATE, view, DEFAULT, view_ops.StorePutAll("a", writes)).had.items()


def _without_answer(state: State, *about: Any) -> State:
    return state


LATER_FOLDS: Final = (
    Fold(
        Rule.K_RANGE_2,
        "an iteration looks up the keys of its range and lists them",
        "entries.list_entries",
        {"entries.look_up": Visit(lambda state, ns, key: key, _without_answer)},
        _list,
        (*KEYS, KEYS),
        _fault("An iteration lists nothing.", "entries.list_entries", _list_nothing),
        ends=lambda answer: answer[1:],
    ),
    Fold(
        Rule.K_FAIL_1,
        "the keys that a call that threw has neither written nor removed, and those of them that it has evicted",
        "flush.untouched_keys",
        {},
        _touch,
        (("v", "x", "y", "w"), ("x", "y", "w")),
        _fault("A call that threw has touched nothing.", "flush.untouched_keys", lambda events, keys: (keys, ())),
    ),
    Fold(
        Rule.K_FAIL_1,
        "what a call that threw has evicted is cached again, and all of its entries are dirty again",
        "flush.put_back",
        {"flush.with_entry_event": _NOT_DELIVERED},
        _put_back,
        (
            *(("PUT", key) for key in KEYS[::-1]),
            *(("FLUSH", key) for key in KEYS),
            (KEYS[::-1], KEYS, tuple(sorted(KEYS))),
        ),
        _fault("Nothing is put back.", "flush.put_back", _without_answer),
        ends=_space_after,
    ),
    Fold(
        Rule.K_FLUSH_9,
        "the keys of flushed tombstones leave, under variant flushed_tombstone any-write",
        "flush.without_keys",
        {"flush.with_entry_event": _EVENT},
        _drop_any_write,
        (*KEYS, ((), (), ())),
        _fault("No key of a flushed tombstone leaves.", "flush.without_keys", _without_answer),
        ends=_space_after,
    ),
    Fold(
        Rule.K_FLUSH_3,
        "the entries that are not delivered are reported",
        "flush.report_undelivered",
        {"flush.with_entry_event": _EVENT},
        _report,
        KEYS,
        _fault("An entry that is not delivered is not reported.", "flush.report_undelivered", _without_answer),
    ),
    Fold(
        Rule.K_CLOSE_1,
        "the entries that a call removes are reported",
        "namespaces.report_removed_entries",
        {"namespaces.with_entry_event": _EVENT},
        _report_removed,
        KEYS,
        _fault("Nothing that a call removes is reported.", "namespaces.report_removed_entries", _without_answer),
    ),
    Fold(
        Rule.K_STORE_11,
        "a view under variant view_tombstone dropped: each of its keys is decided by the key before it",
        "stores.merge_as_released",
        {},
        _merge,
        (("x", "1"), ("y", "1"), ("z", "2"), ("w", "3")),
        _fault("A view is empty.", "stores.merge_as_released", lambda *about: ()),
    ),
    Fold(
        Rule.K_STORE_8,
        "the view of a store and its cache looks up the cached keys, and has their values",
        "stores.list_merged_view",
        {"stores.look_up": Visit(lambda state, name, key: key, _without_answer)},
        _list_store,
        (*KEYS, tuple((key, "1") for key in sorted(KEYS))),
        _fault("A view of a store is empty.", "stores.list_merged_view", _list_nothing),
        ends=lambda answer: (answer[1].entries,),
    ),
    Fold(
        Rule.K_VIEW_9,
        "a backward view under variant backward_tombstone shows: it ends only when both of its sides are used up",
        "views.merge_backward_as_released",
        {},
        _merge_backward,
        (("z", "2"), ("y", "1"), ("x", "1"), ("w", "3")),
        _fault("A backward view is empty.", "views.merge_backward_as_released", lambda *about: ()),
        {"views.list": _AnyStack, "views.enumerate": enumerate},
    ),
    Fold(
        Rule.K_VIEW_6,
        "an open view knows the values of a batch of writes to its store",
        "views.watch_view",
        {},
        _watch,
        tuple((key, (None, "1")) for key in KEYS),
        _fault("An open view knows no later value.", "views.watch_view", lambda state, view, *about: view),
    ),
)
"""The loops over any number of events, keys and entries."""

LEMMAS: Final = (
    *(build_lemma(rule) for rule in RULES),
    *(fold.lemma() for fold in (*FOLDS, *LATER_FOLDS)),
)
