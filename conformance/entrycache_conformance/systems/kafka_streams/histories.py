"""Histories of several threads for `kafka-streams`: their generation and their promises.

`make_history` makes the steps of each client so that threads meet and every value identifies its write. A `Kind` is the
purpose of a history. `judge_history` asks the reference which promises an answered history keeps, within the
limits of the subject.
"""

import dataclasses
from enum import Enum
from typing import Any, Final

from entrycache_conformance.systems.kafka_streams import limits, wire
from entrycache_protocol import case, subject
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.system import Draw, choose
from entrycache_reference.kafka_streams import ops, outcomes, threads
from entrycache_reference.kafka_streams.config import Total
from entrycache_reference.rules import Rule

NODE_BYTES: Final = 50
"""The approximate size of one entry."""

NO_LIMIT: Final = 10_485_760


class Kind(Enum):
    """The purpose of a history."""

    ORDER = "few steps on few keys: answers are put into one order"
    PRESSURE = "the same, in one namespace that overflows"
    OWN_KEYS = "many steps, each key written by one client and read by all, with evictions"
    COUNTS = "many steps in namespaces of their own: counters and the total"
    DROPS = "clears, closes and evictions amid writes"
    LISTENERS = "listeners that write to other namespaces"
    RESIZES = "changes of the limit amid writes"


class HistoryMaker:
    """The state of the makers of one history."""

    def __init__(self, draw: Draw, declaration: Declaration, kind: Kind) -> None:
        self.draw = draw
        self.offered = declaration.ops
        self.limits: limits.Limits = declaration.limits
        self.kind = kind
        self.clients = min(self.limits.threads, choose(draw, (2, 2, 3, 4)))
        several = kind in {Kind.COUNTS, Kind.LISTENERS} or (kind is not Kind.PRESSURE and draw(0, 1))
        self.namespaces = ("a", "b", "c")[: choose(draw, (2, 2, 3)) if several else 1]
        self.closes = kind is Kind.DROPS and draw(0, 1) == 1 and "close" in self.offered
        self.exact = declaration.base_config().variants.total is Total.EXACT
        self.written = 0

    def menu(self, *weighted: tuple[str, int]) -> tuple[str, ...]:
        """Return the offered operations, each as often as its weight says."""
        return tuple(name for name, weight in weighted if name in self.offered for _ in range(weight))

    def value(self) -> str:
        """Return a value that no other write of this history has."""
        self.written += 1
        return str(self.written)

    def write(self, ns: str, key: str) -> Any:
        """Make a write whose value identifies it."""
        dirty = not self.closes and self.draw(0, 2) != 0
        if "put_if_absent" in self.offered and self.draw(0, 3) == 3:
            return ops.PutIfAbsent(ns, key, self.value(), dirty)
        return ops.Put(ns, key, self.value(), dirty)

    def op(self, name: str, ns: str, keys: tuple[str, ...], own: tuple[str, ...]) -> Any:
        """Make a step. Writes and deletions use a key of the client's own; reads use any."""
        if name == "put":
            return self.write(ns, choose(self.draw, own))
        if name == "delete":
            return ops.Delete(ns, choose(self.draw, own))
        if name == "get":
            return ops.Get(ns, choose(self.draw, keys))
        if name == "range":
            return ops.Range(ns, choose(self.draw, (None, *keys)), None)
        if name == "resize":
            return ops.Resize(NODE_BYTES * self.draw(0, 6))
        return NAMESPACE_OPS[name](ns)


NAMESPACE_OPS: Final[dict[str, Any]] = {
    "flush": ops.Flush,
    "evict": ops.Evict,
    "clear": ops.Clear,
    "close": ops.Close,
    "all": ops.All,
    "reverse_all": ops.ReverseAll,
}

READ_WEIGHTS: Final = (("get", 4), ("range", 1), ("all", 1), ("reverse_all", 1))


def make_history(draw: Draw, declaration: Declaration, kind: Kind) -> case.History:
    """Make a history of that kind within what the subject declares."""
    make = HistoryMaker(draw, declaration, kind)
    keys = ("x", "y") if kind in {Kind.ORDER, Kind.PRESSURE} else tuple("uvwxyz")
    before = _steps_before(make, keys)
    clients = tuple(_client_steps(make, number, keys) for number in range(make.clients))
    config = declaration.base_config()
    if declaration.varies("max_size_bytes"):
        config = dataclasses.replace(config, max_size_bytes=_choose_limit(make))
    return case.History(declaration.system, config, before, clients, quiescent_queries(make.offered, make.namespaces))


def _choose_limit(make: HistoryMaker) -> int:
    if make.kind is Kind.PRESSURE:
        return NODE_BYTES * make.draw(1, 2)
    if make.kind in {Kind.OWN_KEYS, Kind.RESIZES, Kind.LISTENERS}:
        return NODE_BYTES * int(choose(make.draw, (2, 3, 4, 6, 1_000_000)))
    if make.kind is Kind.COUNTS:
        return NODE_BYTES * int(choose(make.draw, (1_000_000, 4)))
    return NO_LIMIT


def _steps_before(make: HistoryMaker, keys: tuple[str, ...]) -> tuple[Any, ...]:
    """Return listeners of all namespaces, and in some histories entries that are there from the start."""
    steps: list[Any] = []
    if "listen" in make.offered:
        steps = [ops.Listen(ns, _listener_steps(make, ns, keys)) for ns in make.namespaces]
    for _ in range(make.draw(0, 2)):
        steps.append(make.write(choose(make.draw, make.namespaces), choose(make.draw, keys)))
    return tuple(steps)


def _listener_steps(make: HistoryMaker, ns: str, keys: tuple[str, ...]) -> tuple[Any, ...]:
    """Return the steps of a listener: queries of its own namespace, and uses of others as far as the subject can take
    it.

    If a change of the own namespace inside a call is counted twice, no ring of listeners writes.
    """
    calm = make.kind is Kind.RESIZES and not make.limits.concurrent_resize
    if make.kind not in {Kind.LISTENERS, Kind.RESIZES} or calm:
        return ()
    others = tuple(name for name in make.namespaces if name > ns or (make.limits.crossed_listeners and name != ns))
    steps: list[Any] = []
    for _ in range(make.draw(0, 2)):
        if others and make.draw(0, 2):
            other = choose(make.draw, others)
            key = choose(make.draw, keys)
            writes = make.draw(0, 1) and (make.exact or other > ns)
            steps.append(ops.Put(other, key, "inner", True) if writes else ops.Get(other, key))
        elif "get" in make.offered:
            steps.append(ops.Get(ns, choose(make.draw, keys)))
    return tuple(steps)


def _client_steps(make: HistoryMaker, number: int, keys: tuple[str, ...]) -> tuple[Any, ...]:
    kind = make.kind
    count = make.draw(2, 5)
    own = keys
    if kind is Kind.OWN_KEYS:
        menu = make.menu(("put", 6), ("delete", 1), *READ_WEIGHTS, ("flush", 2))
        count = make.draw(6, 20)
        own = tuple(key for index, key in enumerate(keys) if index % make.clients == number)
    elif kind is Kind.COUNTS:
        menu = make.menu(("put", 3), ("get", 3), ("flush", 1))
        count = make.draw(60, 120)
    elif kind is Kind.DROPS:
        menu = make.menu(("put", 4), ("get", 1), ("evict", 1))
        count = make.draw(6, 12)
        if number == 0 and make.limits.concurrent_clear:
            menu = make.menu(("close", 1)) if make.closes else make.menu(("clear", 2), ("put", 1))
    elif kind is Kind.LISTENERS:
        menu = make.menu(("put", 4), ("flush", 3), ("get", 1))
    elif kind is Kind.RESIZES and number == 0:
        menu = make.menu(("resize", 1))
    elif kind is Kind.RESIZES:
        menu = make.menu(("put", 4), ("get", 1), ("flush", 1))
        count = make.draw(4, 10)
    else:
        clears = ("clear", 1 if make.limits.concurrent_clear and kind is Kind.ORDER else 0)
        menu = make.menu(("put", 5), ("get", 4), ("delete", 1), ("flush", 2), ("evict", 1), clears)
    home = make.namespaces[number % len(make.namespaces)] if kind is Kind.COUNTS else ""
    steps = []
    for _ in range(count if menu else 0):
        ns = home or choose(make.draw, make.namespaces)
        steps.append(make.op(choose(make.draw, menu), ns, keys, own))
    return tuple(steps)


def is_sound(history: case.History) -> bool:
    """Return whether every namespace that is written dirty has a listener. Undelivered writes are another matter."""
    listening = {step.ns for step in history.before if isinstance(step, ops.Listen)}
    inner = [step.on_flush for step in history.before if isinstance(step, ops.Listen)]
    steps = [*history.steps, *(step for held in inner if isinstance(held, tuple) for step in held)]
    return all(step.ns in listening for step in steps if getattr(step, "dirty", False))


def quiescent_queries(offered: frozenset[str], namespaces: tuple[str, ...]) -> tuple[Any, ...]:
    """Return the queries after all threads have ended, counters first, because queries count too."""
    steps: list[Any] = [ops.Metrics(), ops.Usage()]
    for ns in namespaces:
        steps += [ops.Usage(ns), ops.Metrics(ns), ops.All(ns)]
    return tuple(step for step in steps if step.name in offered)


def judge_history(
    history: case.History, happened: subject.HistoryResult, declaration: Declaration
) -> threads.Judgement:
    """Judge which promises an answered history keeps."""
    steps = iter(history.steps)
    events = tuple(
        threads.HistoryStep(each.client, each.step, next(steps), each.start, each.end, as_json(each.outcome))
        for each in happened.events
    )
    record = threads.Record(history.config, len(history.clients), events, declaration.introspection)
    return threads.judge_history(record, as_json, unasked_rules(declaration))


def unasked_rules(declaration: Declaration) -> frozenset[Rule]:
    """Return the rules that a limit excludes."""
    return frozenset() if declaration.limits.exact_counts_under_threads else frozenset({Rule.K_CONCURRENCY_3})


def as_json(outcome: Any) -> Any:
    """Return an outcome of the reference or of a subject as JSON would bring it."""
    return _with_lists(wire.outcome_json(outcome) if isinstance(outcome, outcomes.Outcome) else outcome)


def _with_lists(value: Any) -> Any:
    """Return the value with arrays as lists."""
    if isinstance(value, dict):
        return {name: _with_lists(part) for name, part in value.items()}
    return [_with_lists(part) for part in value] if isinstance(value, tuple | list) else value
