"""Turn the calls of a recorded trace, up to one event, into a case that any subject can play.

`explain_event` takes the calls of one broker up to the event and writes them as steps of a case, with the time between
them. It also makes the calls once more on the fast cache and reports the first recorded event that they do not give. An
`ExplainedCase` lists what the rows do not show and the case therefore assumes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from entrycache_protocol.case import MAX_STEPS
from entrycache_protocol.errors import UsageError
from entrycache_reference.pulsar_pip430 import NAME
from entrycache_simulate import driver, run
from entrycache_trace import files, pulsar_pip430_calls
from entrycache_trace import pulsar_pip430_calls as calls

Step = dict[str, Any]


class ExplainedCase(NamedTuple):
    """A case made of a trace.

    Attributes:
        case: The case as a JSON object.
        difference: The first event that the calls do not give, in words, or an empty text.
        assumptions: Lines about what the rows do not show.
    """

    case: dict[str, Any]
    difference: str
    assumptions: tuple[str, ...]


def explain_event(directory: Path, name: str | None, seq: int, rules: Sequence[str] = ()) -> ExplainedCase:
    """Make a case of the calls of a broker up to the event `seq`, including the call of that event.

    Raises:
        UsageError: there is no such broker or event, its calls cannot be made once more, or there are too many steps.
    """
    metadata, brokers = run.read_brokers(directory)
    broker = _select_broker(directory, brokers, name)
    last = broker.observable[-1][0] if broker.observable else 0
    calls_so_far = tuple(call for call in broker.calls if call.seq <= seq)
    if not calls_so_far or seq > max(last, broker.calls[-1].seq):
        raise UsageError(f"{directory}: broker {broker.name!r} has no event {seq} that follows from a call")
    upto = replace(broker, calls=calls_so_far, observable=tuple(each for each in broker.observable if each[0] <= seq))
    difference, of_case = _first_difference(upto, metadata), _first_difference(_with_fixed_fills(upto), metadata)
    steps = _CaseSteps(broker.config, broker.first_ns)
    for call in calls_so_far:
        steps.add(call)
    if len(steps.steps) > MAX_STEPS:
        raise UsageError(
            f"{directory}: up to event {seq} of broker {broker.name!r} there are {len(steps.steps)} steps; a case has "
            f"{MAX_STEPS} at most; name an earlier event, or a trace that begins later with an empty cache"
        )
    value = {
        "system": NAME,
        "config": broker.config,
        "variants": dict(metadata.variants),
        "steps": steps.steps,
        "rules": list(rules),
        "note": f"Broker {broker.name} of a trace, up to event {seq}.",
    }
    assumptions = _list_assumptions(steps, metadata)
    if of_case != difference:
        assumptions.append(f"fills of the case have the size storage_entry_size, in the trace others: {of_case}")
    return ExplainedCase(value, difference, tuple(assumptions))


def _first_difference(broker: run.BrokerTrace, metadata: files.Metadata) -> str:
    """Return the first event that the calls of a broker do not give, in words, or an empty text."""
    lines: list[str] = []
    run.measure_config(run.AS_RECORDED, [broker], None, metadata, lines)
    return lines[0] if lines else ""


def _with_fixed_fills(broker: run.BrokerTrace) -> run.BrokerTrace:
    """Return the broker with all entries from storage of one size, as a case has them."""
    return replace(broker, calls=tuple(map(_with_fixed_fill, broker.calls)))


def _with_fixed_fill(call: calls.Call) -> calls.Call:
    return replace(call, event=call.event._replace(sizes={})) if isinstance(call.event, calls.Read) else call


def _select_broker(directory: Path, brokers: Sequence[run.BrokerTrace], name: str | None) -> run.BrokerTrace:
    names = ", ".join(broker.name for broker in brokers)
    if name is None and len(brokers) > 1:
        raise UsageError(f"{directory}: the trace has several brokers; name one by --broker: {names}")
    matching = [broker for broker in brokers if name in {None, broker.name}]
    if not matching:
        raise UsageError(f"{directory}: there is no broker {name!r}; there are {names}")
    return matching[0]


def _list_assumptions(steps: _CaseSteps, metadata: files.Metadata) -> list[str]:
    lines = []
    if metadata.many_threads:
        lines.append("the trace is of many threads: the case makes their calls one after the other")
    if steps.skipped:
        lines.append(f"{steps.skipped} entries that nobody wanted are not offered")
    return lines


class _CaseSteps:
    """The steps of a case made from calls, with the time between them."""

    def __init__(self, config: Mapping[str, Any], first_ns: int) -> None:
        self.steps: list[Step] = []
        self.skipped = 0
        self._config, self._now_ns = config, first_ns
        self._ttl_nanos = config["ttl_nanos"]
        self._counts: dict[pulsar_pip430_calls.EntryPosition, int | None] = {}
        self._holds: dict[int, list[str]] = {}
        self._functions: dict[type[Any], Callable[[Any], None]] = {
            calls.Insert: self._insert,
            calls.UncachedAdd: self._skip_uncached,
            calls.Lookup: lambda event: self._at("get", event.position),
            calls.Read: self._read,
            calls.Release: self._release,
            calls.Delivery: self._deliver,
            calls.ExpectRead: lambda event: self._at("expect_read", event.position),
            calls.Expire: self._expire,
            calls.Evict: lambda event: self._add_step("evict", bytes=event.size_bytes),
            calls.Cycle: lambda event: self._add_step("cycle"),
            calls.RunScheduled: lambda event: self._add_step("run_scheduled"),
            calls.Remove: self._remove,
            calls.Close: lambda event: self._add_step("remove_cache", cache=event.cache),
            calls.Cursor: self._cursor,
            calls.Configure: self._configure,
        }

    def add(self, call: calls.Call) -> None:
        """Add one call, after the time that has passed."""
        if call.ts_ns > self._now_ns:
            self._add_step("advance", nanos=call.ts_ns - self._now_ns)
            self._now_ns = call.ts_ns
        self._functions[type(call.event)](call.event)

    def _add_step(self, op: str, **arguments: Any) -> None:
        self.steps.append({"op": op, **arguments})

    def _at(self, op: str, position: pulsar_pip430_calls.EntryPosition, **arguments: Any) -> None:
        self._add_step(op, cache=position.cache, pos=[position.ledger, position.entry], **arguments)

    def _insert(self, event: calls.Insert) -> None:
        """Add an offer. A refused offer does not show its count, so that of the first offer is used."""
        first = self._counts.setdefault(event.position, event.expected_reads)
        count = first if event.refused and event.expected_reads is None else event.expected_reads
        self._at("insert", event.position, size=event.size_bytes, expected_reads=count)

    def _skip_uncached(self, event: calls.UncachedAdd) -> None:
        self.skipped += 1

    def _read(self, event: calls.Read) -> None:
        cache, ledger, entry = event.first
        hold = {}
        if event.hold is not None:
            names = self._holds.setdefault(event.hold, [])
            names.append(f"r{event.hold}.{len(names)}")
            hold = {"hold": names[-1]}
        count = 1 if event.expected_reads is None else event.expected_reads
        ends = {"first": [ledger, entry], "last": [ledger, event.last_entry]}
        self._add_step("read", cache=cache, **ends, expected_reads=count, **hold)

    def _deliver(self, event: calls.Delivery) -> None:
        for position in event.positions:
            self._at("mark_read", position)

    def _release(self, event: calls.Release) -> None:
        for hold in self._holds.pop(event.hold):
            self._add_step("release", hold=hold)

    def _expire(self, event: calls.Expire) -> None:
        own = event.older_than_nanos == self._ttl_nanos
        self._add_step("expire", **({} if own else {"older_than_nanos": event.older_than_nanos}))

    def _remove(self, event: calls.Remove) -> None:
        cache, ledger, entry = event.last
        if event.cause == "CLEAR":
            self._add_step("clear", cache=cache)
        elif event.cause == "LEDGER":
            self._add_step("invalidate_ledger", cache=cache, ledger=ledger)
        elif event.cause == "CURSOR":
            self._add_step("invalidate_before", cache=cache, pos=[ledger, entry + 1])
        else:
            ends = {"first": list(event.first[1:]), "last": [ledger, entry]}
            self._add_step("remove_range", cache=cache, **ends, last_inclusive=True)

    def _cursor(self, event: calls.Cursor) -> None:
        at = {} if event.op == "CURSOR_REMOVE" else {"pos": None if event.position is None else list(event.position)}
        self._add_step(event.op.lower(), cache=event.cache, cursor=event.cursor, **at)

    def _configure(self, event: calls.Configure) -> None:
        dynamic = {key: event.config[key] for key in driver.DYNAMIC_SETTINGS if key in event.config}
        self._ttl_nanos = dynamic.get("ttl_nanos", self._ttl_nanos)
        self._add_step("configure", **dynamic)
