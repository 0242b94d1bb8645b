"""The wire: requests and answers of the protocol as lines of JSON.

`encode_request` writes the request that plays a case or a history. `parse_line` and `read_answer` read the answer of a
subject strictly; whatever is not of the protocol raises `BrokenSubject` with one line that says why. The events of a
history must have the ticks of one counter.
"""

import json
from collections.abc import Sequence
from typing import Any, Final

from entrycache_protocol import codec, strict_json
from entrycache_protocol.case import Case, History, config_to_json, history_parts_to_json
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.errors import BrokenAdapter, BrokenSubject, escape_unprintable, extract_cause, shorten
from entrycache_protocol.subject import FailedRun, FailureKind, HistoryEvent, HistoryResult, RunResult, SkippedRun

MAX_MESSAGE_LENGTH: Final = 2_000
"""The most characters that are kept of a subject's message."""

EVENT_KEYS: Final = frozenset({"client", "step", "start", "end", "outcome"})

START: Final = '{"cmd":"start","version":1}\n'


def encode_request(case: Case | History, identity: int, declaration: Declaration) -> str:
    """Return the request that plays a case or a history, with the keys of the configuration that may vary."""
    omitted = () if isinstance(case, History) else case.omitted
    config = config_to_json(case.system, case.config, declaration.sent_keys - {*omitted})
    head = {"id": identity, "system": case.system.name, "config": config}
    if isinstance(case, History):
        request = {"cmd": "history", **head, **history_parts_to_json(case)}
    else:
        request = {"cmd": "run", **head, "steps": [declaration.encode_step(op) for op in case.steps]}
    return json.dumps(request, separators=(",", ":")) + "\n"


_MESSAGE_DECODER: Final = json.JSONDecoder(
    parse_constant=strict_json.reject_constant, object_pairs_hook=strict_json.build_object
)
"""The decoder of answers: less strict than that of files, because messages are escaped before they are shown."""


def parse_line(line: bytes) -> dict[str, Any]:
    """Parse the JSON object of an answer.

    Raises:
        BrokenSubject: the line is no JSON object in UTF-8, or it is ambiguous: a key occurs twice in an object, or a
            number is NaN or infinite.
    """
    try:
        value = _MESSAGE_DECODER.decode(line.decode("utf-8"))
    except strict_json.AmbiguousJson as error:
        why = f"not JSON to every reader, {error}"
        raise BrokenSubject(f"the subject answered a line that is {why}: {quote_line(line)}") from None
    except (ValueError, RecursionError):
        raise BrokenSubject(f"the subject answered a line that is not JSON: {quote_line(line)}") from None
    if type(value) is not dict:
        raise BrokenSubject(f"the subject answered {quote_line(line)}, expected a JSON object")
    return value


def quote_line(line: bytes, length: int = 120) -> str:
    """Quote a line for a message: printable and short."""
    return shorten(ascii(line[: length + 1].decode("utf-8", "replace").rstrip("\r\n")), length)


def clean_message(value: Any) -> str:
    """Escape a message of a subject; its line breaks stay."""
    lines = str("" if value is None else value)[:MAX_MESSAGE_LENGTH].splitlines()
    return "\n".join(escape_unprintable(line) for line in lines)


def check_adapter(answer: dict[str, Any]) -> None:
    """Refuse an answer in which the adapter says that it cannot work here, so that nothing is judged.

    Raises:
        BrokenAdapter: the answer says so; the message is the adapter's.
    """
    broken = answer.get("broken")
    if type(broken) is dict and broken.keys() == {"message"} and type(broken["message"]) is str:
        raise BrokenAdapter(shorten(" ".join(clean_message(broken["message"]).split()), MAX_MESSAGE_LENGTH))


def _read_skipped(skipped: Any) -> SkippedRun:
    if type(skipped) is not dict or type(skipped.get("reason")) is not str or not skipped["reason"].strip():
        raise BrokenSubject("a skipped run gives no reason")
    url = skipped.get("issue_url")
    if url is not None and type(url) is not str:
        raise BrokenSubject(f"the issue_url of a skipped run is {url!r}, expected a string")
    return SkippedRun(clean_message(skipped["reason"]), None if url is None else clean_message(url))


def read_answer(
    value: dict[str, Any], case: Case | History, identity: int, declaration: Declaration
) -> RunResult | HistoryResult | SkippedRun | FailedRun:
    """Read the answer to a run or a history, with typed outcomes.

    Raises:
        BrokenAdapter: the answer is `broken`.
        BrokenSubject: the id or the number of outcomes is wrong, or an outcome is not of the protocol.
    """
    check_adapter(value)
    if type(value.get("id")) is not int or value["id"] != identity:
        raise BrokenSubject(f"the subject answered run {value.get('id')!r}, expected run {identity}")
    kind_key = "events" if isinstance(case, History) else "outcomes"
    kinds = [kind for kind in (kind_key, "skipped", "errored") if kind in value]
    allowed = {"id", *kinds} | ({"leaked"} if declaration.leaks and kind_key == "outcomes" else set())
    if len(kinds) != 1 or value.keys() - allowed:
        keys = ", ".join(sorted(map(repr, value)))
        raise BrokenSubject(
            f"the answer to a run has the keys {keys}; expected id and {kind_key}, skipped, errored or broken"
        )
    if kinds[0] == "skipped":
        return _read_skipped(value["skipped"])
    if kinds[0] == "errored":
        errored = value["errored"]
        if type(errored) is not dict:
            raise BrokenSubject("an errored run is not described by an object")
        step = errored.get("step")
        if step is not None and (type(step) is not int or not 0 <= step < max(1, len(case.steps))):
            raise BrokenSubject(f"an errored run names step {step!r} of {len(case.steps)} steps")
        traceback = errored.get("traceback")
        log = extract_cause(traceback) if type(traceback) is str else ()
        return FailedRun(FailureKind.ERRORED, step, clean_message(errored.get("message")), log)
    if isinstance(case, History):
        return HistoryResult(_read_events(value["events"], case, declaration))
    outcomes = value["outcomes"]
    if type(outcomes) is not list or len(outcomes) != len(case.steps):
        count = len(outcomes) if type(outcomes) is list else outcomes
        raise BrokenSubject(f"the subject answered {count!r} outcomes for {len(case.steps)} steps")
    leaked = value.get("leaked")
    if declaration.leaks and (type(leaked) is not int or leaked < 0):
        raise BrokenSubject(f"the subject declares leaks and answered leaked {leaked!r}, expected 0 or more")
    typed = []
    for index, (op, outcome) in enumerate(zip(case.steps, outcomes, strict=True)):
        try:
            typed.append(declaration.read_outcome(op, outcome))
        except codec.MalformedValue as error:
            name = type(op).name
            where = f"the outcome of step {index} ({name})"
            raise BrokenSubject(f"{where}: {error}{_quote_outcome(outcome)}") from None
    return RunResult(tuple(typed), leaked)


def _quote_outcome(outcome: Any) -> str:
    """Return an outcome for the end of a message, if it is an object; any other is in the message already."""
    if type(outcome) is not dict:
        return ""
    return f"; the answer was {shorten(escape_unprintable(json.dumps(outcome, ensure_ascii=False)), 120)}"


def _read_events(events: Any, history: History, declaration: Declaration) -> tuple[HistoryEvent, ...]:
    """Read the events of a history: each step once, in the order of its file.

    Raises:
        BrokenSubject: a step is missing, occurs twice, or has impossible ticks.
    """
    if type(events) is not list or len(events) != len(history.steps):
        count = len(events) if type(events) is list else events
        raise BrokenSubject(f"the subject answered {count!r} events for {len(history.steps)} steps")
    by_place: dict[tuple[int, int], Any] = {}
    for event in events:
        if type(event) is not dict or event.keys() != EVENT_KEYS:
            raise BrokenSubject(
                f"an event has not the keys {', '.join(sorted(EVENT_KEYS))}: {shorten(repr(event), 120)}"
            )
        if any(type(event[name]) is not int for name in EVENT_KEYS - {"outcome"}):
            raise BrokenSubject(f"an event has a number that is no integer: {shorten(repr(event), 120)}")
        by_place[event["client"], event["step"]] = event
    ordered = []
    for client, steps in history.parts():
        end = -1
        for index, op in enumerate(steps):
            where = f"step {index} of client {client} ({type(op).name})"
            event = by_place.get((client, index))
            if event is None:
                raise BrokenSubject(f"the subject answered no event for {where}")
            if not end < event["start"] < event["end"]:
                ticks = f"{event['start']} and {event['end']}"
                raise BrokenSubject(f"{where} lies between {ticks}, and the step before it ended at {end}")
            end = event["end"]
            try:
                outcome = declaration.system.wire.read_outcome(op, event["outcome"], declaration)
            except codec.MalformedValue as error:
                raise BrokenSubject(f"the outcome of {where}: {error}{_quote_outcome(event['outcome'])}") from None
            ordered.append(HistoryEvent(client, index, event["start"], end, outcome))
    _check_one_counter(ordered, len(history.clients))
    return tuple(ordered)


def _check_one_counter(events: Sequence[HistoryEvent], clients: int) -> None:
    """Check that all ticks come from one counter: if each thread counted for itself, no order could be wrong.

    Raises:
        BrokenSubject: a tick occurs twice, or a part that runs alone overlaps another.
    """
    if len({tick for event in events for tick in (event.start, event.end)}) < 2 * len(events):
        raise BrokenSubject("two ticks of a history are the same, and all come from one counter")
    for first_after in (0, clients):
        earlier = [event.end for event in events if event.client < first_after]
        later = [event.start for event in events if event.client >= first_after]
        if earlier and later and max(earlier) > min(later):
            whose = "before" if first_after == 0 else "after"
            raise BrokenSubject(f"the steps of {whose} run alone, and one of them overlaps another client's")
