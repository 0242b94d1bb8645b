"""A moment of a recorded trace as a case: the calls up to it, as operations that any subject can be asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from entrycache_protocol.case import MAX_STEPS
from entrycache_protocol.errors import UsageError
from entrycache_reference.pulsar_pip430 import NAME
from entrycache_simulate.driver import DYNAMIC_SETTINGS
from entrycache_simulate.run import AS_RECORDED, BrokerTrace, measure_config, read_brokers
from entrycache_trace import pulsar_pip430_calls
from entrycache_trace.files import Metadata
from entrycache_trace.pulsar_pip430_calls import EntryPosition

Step = dict[str, Any]


class ExplainedCase(NamedTuple):
    """A case made of a trace, as a JSON object.

    `unlike`: the first event up to there that the calls do not give, in words, if any.

    `assumed` are lines about what the rows do not show and the case therefore does not hold.
    """

    case: dict[str, Any]
    difference: str
    assumptions: tuple[str, ...]


def explain_event(directory: Path, name: str | None, seq: int, rules: Sequence[str] = ()) -> ExplainedCase:
    """The calls of a broker up to the event numbered `seq`, that event's call among them.

    Raises:
        UsageError: no such broker or event, or calls that cannot be made once more; more steps than a case has.
    """
    metadata, brokers = read_brokers(directory)
    broker = _select_broker(directory, brokers, name)
    last = broker.shown[-1][0] if broker.shown else 0
    made = tuple(call for call in broker.calls if call.seq <= seq)
    if not made or seq > max(last, broker.calls[-1].seq):
        raise UsageError(f"{directory}: broker {broker.name!r} has no event {seq} that follows from a call")
    upto = replace(broker, calls=made, shown=tuple(each for each in broker.shown if each[0] <= seq))
    difference, of_case = _first_difference(upto, metadata), _first_difference(_with_fixed_fills(upto), metadata)
    steps = _CaseSteps(broker.config, broker.first_ns)
    for call in made:
        steps.add(call)
    if len(steps.made) > MAX_STEPS:
        raise UsageError(
            f"{directory}: up to event {seq} of broker {broker.name!r} there are {len(steps.made)} steps; a case has "
            f"{MAX_STEPS} at most; name an earlier event, or a trace that begins later with an empty cache"
        )
    value = {
        "system": NAME,
        "config": broker.config,
        "variants": dict(metadata.variants),
        "steps": steps.made,
        "rules": list(rules),
        "note": f"Broker {broker.name} of a trace, up to event {seq}.",
    }
    assumptions = _list_assumptions(steps, metadata)
    if of_case != difference:
        assumptions.append(f"fills of the case have the size storage_entry_size, in the trace others: {of_case}")
    return ExplainedCase(value, difference, tuple(assumptions))


def _first_difference(broker: BrokerTrace, metadata: Metadata) -> str:
    """The first event that the calls of a broker do not give, in words; empty: they give all."""
    lines: list[str] = []
    measure_config(AS_RECORDED, [broker], None, metadata, lines)
    return lines[0] if lines else ""


def _with_fixed_fills(broker: BrokerTrace) -> BrokerTrace:
    """The broker, with what is read from storage as a case has it: all of one size."""
    return replace(broker, calls=tuple(map(_with_fixed_fill, broker.calls)))


def _with_fixed_fill(call: pulsar_pip430_calls.Call) -> pulsar_pip430_calls.Call:
    return (
        replace(call, event=call.event._replace(sizes={})) if isinstance(call.event, pulsar_pip430_calls.Read) else call
    )


def _select_broker(directory: Path, brokers: Sequence[BrokerTrace], name: str | None) -> BrokerTrace:
    names = ", ".join(broker.name for broker in brokers)
    if name is None and len(brokers) > 1:
        raise UsageError(f"{directory}: the trace has several brokers; name one by --broker: {names}")
    found = [broker for broker in brokers if name in {None, broker.name}]
    if not found:
        raise UsageError(f"{directory}: there is no broker {name!r}; there are {names}")
    return found[0]


def _list_assumptions(steps: _CaseSteps, metadata: Metadata) -> list[str]:
    lines = []
    if metadata.many_threads:
        lines.append("the trace is of many threads: the case makes their calls one after the other")
    if steps.not_made:
        lines.append(f"{steps.not_made} entries that nobody wanted are not offered")
    return lines


class _CaseSteps:
    """The steps that calls are, with the time between them."""

    def __init__(self, config: Mapping[str, Any], first_ns: int) -> None:
        self.made: list[Step] = []
        self.not_made = 0
        self._config, self._now_ns = config, first_ns
        self._ttl_nanos = config["ttl_nanos"]
        self._counts: dict[EntryPosition, int | None] = {}
        self._holds: dict[int, list[str]] = {}
        self._functions: dict[type[Any], Callable[[Any], None]] = {
            pulsar_pip430_calls.Insert: self._insert,
            pulsar_pip430_calls.UncachedAdd: self._unwanted,
            pulsar_pip430_calls.Lookup: lambda event: self._at("get", event.place),
            pulsar_pip430_calls.Read: self._read,
            pulsar_pip430_calls.Release: self._released,
            pulsar_pip430_calls.Delivery: self._delivered,
            pulsar_pip430_calls.ExpectRead: lambda event: self._at("expect_read", event.place),
            pulsar_pip430_calls.Expire: self._expire,
            pulsar_pip430_calls.Evict: lambda event: self._say("evict", bytes=event.size_bytes),
            pulsar_pip430_calls.Cycle: lambda event: self._say("cycle"),
            pulsar_pip430_calls.RunScheduled: lambda event: self._say("run_scheduled"),
            pulsar_pip430_calls.Remove: self._remove,
            pulsar_pip430_calls.Close: lambda event: self._say("remove_cache", cache=event.cache),
            pulsar_pip430_calls.Cursor: self._cursor,
            pulsar_pip430_calls.Configure: self._configure,
        }

    def add(self, call: pulsar_pip430_calls.Call) -> None:
        """One call, after the time that has gone by."""
        if call.ts_ns > self._now_ns:
            self._say("advance", nanos=call.ts_ns - self._now_ns)
            self._now_ns = call.ts_ns
        self._functions[type(call.event)](call.event)

    def _say(self, op: str, **arguments: Any) -> None:
        self.made.append({"op": op, **arguments})

    def _at(self, op: str, place: EntryPosition, **arguments: Any) -> None:
        self._say(op, cache=place.cache, pos=[place.ledger, place.entry], **arguments)

    def _insert(self, event: pulsar_pip430_calls.Insert) -> None:
        """An offer that was refused does not say its count: that of the first offer is taken."""
        first = self._counts.setdefault(event.place, event.expected_reads)
        count = first if event.refused and event.expected_reads is None else event.expected_reads
        self._at("insert", event.place, size=event.size_bytes, expected_reads=count)

    def _unwanted(self, event: pulsar_pip430_calls.UncachedAdd) -> None:
        self.not_made += 1

    def _read(self, event: pulsar_pip430_calls.Read) -> None:
        cache, ledger, entry = event.first
        hold = {}
        if event.hold is not None:
            names = self._holds.setdefault(event.hold, [])
            names.append(f"r{event.hold}.{len(names)}")
            hold = {"hold": names[-1]}
        count = 1 if event.expected_reads is None else event.expected_reads
        ends = {"first": [ledger, entry], "last": [ledger, event.last_entry]}
        self._say("read", cache=cache, **ends, expected_reads=count, **hold)

    def _delivered(self, event: pulsar_pip430_calls.Delivery) -> None:
        for place in event.places:
            self._at("mark_read", place)

    def _released(self, event: pulsar_pip430_calls.Release) -> None:
        for hold in self._holds.pop(event.hold):
            self._say("release", hold=hold)

    def _expire(self, event: pulsar_pip430_calls.Expire) -> None:
        own = event.older_than_nanos == self._ttl_nanos
        self._say("expire", **({} if own else {"older_than_nanos": event.older_than_nanos}))

    def _remove(self, event: pulsar_pip430_calls.Remove) -> None:
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

    def _cursor(self, event: pulsar_pip430_calls.Cursor) -> None:
        at = {} if event.op == "CURSOR_REMOVE" else {"pos": None if event.position is None else list(event.position)}
        self._say(event.op.lower(), cache=event.cache, cursor=event.cursor, **at)

    def _configure(self, event: pulsar_pip430_calls.Configure) -> None:
        given = {key: event.config[key] for key in DYNAMIC_SETTINGS if key in event.config}
        self._ttl_nanos = given.get("ttl_nanos", self._ttl_nanos)
        self._say("configure", **given)
