"""A moment of a recorded trace as a case: the calls up to it, as operations that any subject can be asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from entrycache_protocol.case import STEPS_MOST
from entrycache_protocol.errors import UsageError
from entrycache_reference.pulsar_pip430 import NAME
from entrycache_simulate import calls
from entrycache_simulate.calls import Place
from entrycache_simulate.drive import DYNAMIC
from entrycache_simulate.run import OWN, Broker, measure, read_brokers
from entrycache_trace.files import Metadata

Step = dict[str, Any]


class Explained(NamedTuple):
    """A case made of a trace, as a JSON object.

    `unlike`: the first event up to there that the calls do not give, in words, if any.

    `assumed` are lines about what the rows do not show and the case therefore does not hold.
    """

    case: dict[str, Any]
    unlike: str
    assumed: tuple[str, ...]


def explain(directory: Path, name: str | None, seq: int, rules: Sequence[str] = ()) -> Explained:
    """The calls of a broker up to the event numbered `seq`, that event's call among them.

    Raises:
        UsageError: no such broker or event, or calls that cannot be made once more; more steps than a case has.
    """
    metadata, brokers = read_brokers(directory)
    broker = _named(directory, brokers, name)
    last = broker.shown[-1][0] if broker.shown else 0
    made = tuple(call for call in broker.calls if call.seq <= seq)
    if not made or seq > max(last, broker.calls[-1].seq):
        raise UsageError(f"{directory}: broker {broker.name!r} has no event {seq} that follows from a call")
    upto = replace(broker, calls=made, shown=tuple(each for each in broker.shown if each[0] <= seq))
    unlike, of_case = _unlike(upto, metadata), _unlike(_with_fixed_fills(upto), metadata)
    steps = _Steps(broker.config, broker.first_ns)
    for call in made:
        steps.add(call)
    if len(steps.made) > STEPS_MOST:
        raise UsageError(
            f"{directory}: up to event {seq} of broker {broker.name!r} there are {len(steps.made)} steps; a case has "
            f"{STEPS_MOST} at most; name an earlier event, or a trace that begins later with an empty cache"
        )
    value = {
        "system": NAME,
        "config": broker.config,
        "variants": dict(metadata.variants),
        "steps": steps.made,
        "rules": list(rules),
        "note": f"Broker {broker.name} of a trace, up to event {seq}.",
    }
    assumed = _assumed(steps, metadata)
    if of_case != unlike:
        assumed.append(f"fills of the case have the size storage_entry_size, in the trace others: {of_case}")
    return Explained(value, unlike, tuple(assumed))


def _unlike(broker: Broker, metadata: Metadata) -> str:
    """The first event that the calls of a broker do not give, in words; empty: they give all."""
    lines: list[str] = []
    measure(OWN, [broker], None, metadata, lines)
    return lines[0] if lines else ""


def _with_fixed_fills(broker: Broker) -> Broker:
    """The broker, with what is read from storage as a case has it: all of one size."""
    return replace(broker, calls=tuple(map(_with_fixed_fill, broker.calls)))


def _with_fixed_fill(call: calls.Call) -> calls.Call:
    return replace(call, event=call.event._replace(sizes={})) if isinstance(call.event, calls.Read) else call


def _named(directory: Path, brokers: Sequence[Broker], name: str | None) -> Broker:
    names = ", ".join(broker.name for broker in brokers)
    if name is None and len(brokers) > 1:
        raise UsageError(f"{directory}: the trace has several brokers; name one by --broker: {names}")
    found = [broker for broker in brokers if name in {None, broker.name}]
    if not found:
        raise UsageError(f"{directory}: there is no broker {name!r}; there are {names}")
    return found[0]


def _assumed(steps: _Steps, metadata: Metadata) -> list[str]:
    lines = []
    if metadata.many_threads:
        lines.append("the trace is of many threads: the case makes their calls one after the other")
    if steps.not_made:
        lines.append(f"{steps.not_made} entries that nobody wanted are not offered")
    return lines


class _Steps:
    """The steps that calls are, with the time between them."""

    def __init__(self, config: Mapping[str, Any], first_ns: int) -> None:
        self.made: list[Step] = []
        self.not_made = 0
        self._config, self._now_ns = config, first_ns
        self._ttl_nanos = config["ttl_nanos"]
        self._counts: dict[Place, int | None] = {}
        self._holds: dict[int, list[str]] = {}
        self._functions: dict[type[Any], Callable[[Any], None]] = {
            calls.Insert: self._insert,
            calls.Unwanted: self._unwanted,
            calls.Lookup: lambda event: self._at("get", event.place),
            calls.Read: self._read,
            calls.Released: self._released,
            calls.Delivered: self._delivered,
            calls.Expected: lambda event: self._at("expect_read", event.place),
            calls.Expire: self._expire,
            calls.Evict: lambda event: self._say("evict", bytes=event.size_bytes),
            calls.Cycle: lambda event: self._say("cycle"),
            calls.RunScheduled: lambda event: self._say("run_scheduled"),
            calls.Remove: self._remove,
            calls.Close: lambda event: self._say("remove_cache", cache=event.cache),
            calls.Cursor: self._cursor,
            calls.Configure: self._configure,
        }

    def add(self, call: calls.Call) -> None:
        """One call, after the time that has gone by."""
        if call.ts_ns > self._now_ns:
            self._say("advance", nanos=call.ts_ns - self._now_ns)
            self._now_ns = call.ts_ns
        self._functions[type(call.event)](call.event)

    def _say(self, op: str, **arguments: Any) -> None:
        self.made.append({"op": op, **arguments})

    def _at(self, op: str, place: Place, **arguments: Any) -> None:
        self._say(op, cache=place.cache, pos=[place.ledger, place.entry], **arguments)

    def _insert(self, event: calls.Insert) -> None:
        """An offer that was refused does not say its count: that of the first offer is taken."""
        first = self._counts.setdefault(event.place, event.expected_reads)
        count = first if event.refused and event.expected_reads is None else event.expected_reads
        self._at("insert", event.place, size=event.size_bytes, expected_reads=count)

    def _unwanted(self, event: calls.Unwanted) -> None:
        self.not_made += 1

    def _read(self, event: calls.Read) -> None:
        cache, ledger, entry = event.first
        hold = {}
        if event.hold is not None:
            names = self._holds.setdefault(event.hold, [])
            names.append(f"r{event.hold}.{len(names)}")
            hold = {"hold": names[-1]}
        count = 1 if event.expected_reads is None else event.expected_reads
        ends = {"first": [ledger, entry], "last": [ledger, event.last_entry]}
        self._say("read", cache=cache, **ends, expected_reads=count, **hold)

    def _delivered(self, event: calls.Delivered) -> None:
        for place in event.places:
            self._at("mark_read", place)

    def _released(self, event: calls.Released) -> None:
        for hold in self._holds.pop(event.hold):
            self._say("release", hold=hold)

    def _expire(self, event: calls.Expire) -> None:
        own = event.older_than_nanos == self._ttl_nanos
        self._say("expire", **({} if own else {"older_than_nanos": event.older_than_nanos}))

    def _remove(self, event: calls.Remove) -> None:
        cache, ledger, entry = event.last
        if event.cause == "CLEAR":
            self._say("clear", cache=cache)
        elif event.cause == "LEDGER":
            self._say("invalidate_ledger", cache=cache, ledger=ledger)
        elif event.cause == "CURSOR":
            self._say("invalidate_before", cache=cache, pos=[ledger, entry + 1])
        else:
            ends = {"first": list(event.first[1:]), "last": [ledger, entry]}
            self._say("remove_range", cache=cache, **ends, last_inclusive=True)

    def _cursor(self, event: calls.Cursor) -> None:
        at = {} if event.op == "CURSOR_REMOVE" else {"pos": None if event.position is None else list(event.position)}
        self._say(event.op.lower(), cache=event.cache, cursor=event.cursor, **at)

    def _configure(self, event: calls.Configure) -> None:
        given = {key: event.config[key] for key in DYNAMIC if key in event.config}
        self._ttl_nanos = given.get("ttl_nanos", self._ttl_nanos)
        self._say("configure", **given)
