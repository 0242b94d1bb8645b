"""The life of one entry in a trace, described in sentences.

`read_entry` collects the rows of one entry in each broker, with the CONFIG that was effective and the PASS_BEGIN of
each pass that met it. Each row becomes a sentence: an insertion, a hit, a requeue, a removal with its cause and the
settings that decided it, or a miss with what had happened to the entry before. Equal sentences in a row, such as hits,
become one. The sentences describe what the rows say; an audit judges whether the rows follow the rules. `life_lines`
and `life_json` present the result.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import pyarrow.dataset as ds

from entrycache_protocol.errors import UsageError, describe_value
from entrycache_trace import files, parquet

Row = Mapping[str, Any]

ENTRY_ROWS_MAX: Final = 100_000
"""The most rows of one entry in one broker that are described."""

NAMES_MAX: Final = 5
"""The number of caches that an error names."""

EVENT_OPS: Final = (
    *("INSERT", "PUT", "REJECT", "SKIP", "HIT", "MISS", "READ_DONE", "EXPECT", "REQUEUE", "EVICT"),
    *("REMOVE", "DELETE", "FLUSH", "SNAPSHOT", "BELOW", "FORWARD", "VIEW_ENTRY"),
)
"""The events of an entry; a cursor's position and the ends of a requested range are no events of it."""

CLOCK_SLACK_NANOS: Final = 1_000_000
"""The most time between the event of a pass and the reading of the clock for its cutoff."""

REMOVAL_OPS: Final = ("EVICT", "REMOVE", "DELETE")
ENTRY_OPS: Final = ("INSERT", "PUT")


class Entry(NamedTuple):
    """The name of an entry: its cache with a position, or with the hash of a key; `label` is what the user gave."""

    cache: str
    label: str
    position: tuple[int, int] | None = None
    key_hash: int | None = None

    def selects(self) -> ds.Expression:
        """Return the filter of the rows of the entry. A row of a falling read count may lack the cache."""
        if self.position is None:
            return (ds.field("cache") == self.cache) & (ds.field("key_hash") == self.key_hash)
        ledger_id, entry_id = self.position
        here = (ds.field("cache") == self.cache) | ds.field("cache").is_null()
        return here & (ds.field("ledger_id") == ledger_id) & (ds.field("entry_id") == entry_id)


class BrokerRows(NamedTuple):
    """The rows of one broker that describe an entry."""

    broker: str
    rows: list[Row]
    configs: list[Row]
    passes: dict[int, Row]
    first_ts: int
    last_seq: int
    missing: int
    """The number of events between the first and the last that have no row."""
    variants: Mapping[str, object]


class EntryEvent(NamedTuple):
    """One sentence about an entry, with the row that it begins with and the settings that decided it."""

    seq: int
    seconds: float
    op: str
    cause: str | None
    times: int
    text: str
    settings: dict[str, Any]


class BrokerLife(NamedTuple):
    """The life of an entry in one broker; `notes` say what the trace may lack."""

    broker: str
    events: list[EntryEvent]
    end: str
    notes: list[str]


def read_entry(directory: Path, entry: Entry, broker: str | None = None) -> list[BrokerLife]:
    """Return the life of an entry in each broker that has its cache.

    Raises:
        UsageError: the trace cannot be read, has no such broker or cache, or too many rows of the entry.
    """
    metadata = files.read_metadata(directory)
    parts = files.list_parts(directory, needed=("seq", "ts_ns", "op", "cause", "cache"))
    names = sorted({part.broker for part in parts if part.rows})
    if broker is not None and broker not in names:
        raise UsageError(f"{directory}: no broker {describe_value(broker)}; expected one of {_some(names)}")
    lives: list[BrokerLife] = []
    caches: set[str] = set()
    for name in names if broker is None else [broker]:
        owned = [part for part in parts if part.broker == name]
        own_caches = _cache_names(owned)
        caches |= own_caches
        if entry.cache in own_caches:
            lives.append(_describe(_read_rows(directory, name, owned, entry, metadata.variants), metadata))
    if not lives:
        raise UsageError(f"{directory}: no event of a cache {describe_value(entry.cache)}; expected {_some(caches)}")
    return lives


def _some(names: Iterable[str]) -> str:
    """Return some of the names for an error line."""
    ordered = sorted(names)
    first_names = ", ".join(map(describe_value, ordered[:NAMES_MAX]))
    more = len(ordered) - NAMES_MAX
    return f"{first_names} or {more} others" if more > 0 else first_names or "a trace with events"


def _cache_names(parts: list[files.Part]) -> set[str]:
    names: set[str] = set()
    for part in parts:
        for batch in parquet.read_batches(part.path, ("cache",)):
            names |= {name for name in batch["cache"].unique().to_pylist() if name is not None}
    return names


def _select(part: files.Part, wanted: ds.Expression) -> list[dict[str, Any]]:
    """Return the rows of a part that a filter selects; a column that the part lacks selects none."""
    with parquet.report_unreadable(part.path):
        data = ds.dataset(part.path, partitioning=None)
        scanner = data.scanner(filter=wanted)
        rows: list[dict[str, Any]] = scanner.head(ENTRY_ROWS_MAX + 1).to_pylist()
        return rows


def _read_rows(
    directory: Path, broker: str, parts: list[files.Part], entry: Entry, variants: Mapping[str, object]
) -> BrokerRows:
    op = ds.field("op")
    rows = [row for part in parts for row in _select(part, entry.selects() & op.isin(EVENT_OPS))]
    if len(rows) > ENTRY_ROWS_MAX:
        raise UsageError(
            f"{directory}: broker {describe_value(broker)} has more than {ENTRY_ROWS_MAX} events of {entry.label}; "
            "expected fewer"
        )
    configs = [row for part in parts for row in _select(part, op == "CONFIG")]
    pass_ids = {row["pass_id"] for row in rows if row.get("pass_id") is not None}
    is_begin = (op == "PASS_BEGIN") & ds.field("pass_id").isin(sorted(pass_ids))
    pass_begins = [row for part in parts for row in _select(part, is_begin)] if pass_ids else []
    table = files.read_broker(parts, ("seq", "ts_ns"))
    first, last = (int(table["seq"][at].as_py()) for at in (0, -1))
    return BrokerRows(
        broker,
        sorted(rows, key=_seq),
        sorted(configs, key=_seq),
        {row["pass_id"]: row for row in pass_begins},
        int(table["ts_ns"][0].as_py()),
        last,
        last - first + 1 - table.num_rows,
        variants,
    )


def _seq(row: Row) -> int:
    return int(row["seq"])


def _describe(collected: BrokerRows, metadata: files.Metadata) -> BrokerLife:
    events: list[EntryEvent] = []
    removal: EntryEvent | None = None
    entered = False
    for row in collected.rows:
        context = Context(collected, row, removal, entered)
        settings = {name: value for name, value in context.deciding_settings().items() if value is not None}
        cause = row.get("cause")
        event = EntryEvent(
            _seq(row),
            (row["ts_ns"] - collected.first_ts) / 1e9,
            row["op"],
            cause,
            1,
            SENTENCES[row["op"]](context),
            settings,
        )
        last = events[-1] if events else None
        if last is not None and (last.op, last.cause, last.text) == (event.op, event.cause, event.text):
            events[-1] = last._replace(times=last.times + 1)
        else:
            events.append(event)
        if row["op"] in REMOVAL_OPS:
            removal, entered = event, False
        elif row["op"] in {*ENTRY_OPS, "HIT", "REQUEUE", "SNAPSHOT"}:
            removal, entered = None, True
    return BrokerLife(collected.broker, events, _end(events, removal, entered), _notes(collected, metadata))


def _end(events: list[EntryEvent], removal: EntryEvent | None, entered: bool) -> str:
    """Return the sentence about the entry after the last event of the trace."""
    if removal is not None:
        return f"At the end of the trace it is not in the cache: it left at seq {removal.seq}, and did not come back."
    if entered:
        return "At the end of the trace it is in the cache."
    if events:
        return "It never was in the cache during this trace."
    return "No event of this trace is about it: it was not inserted, and nobody looked it up by itself."


def _notes(collected: BrokerRows, metadata: files.Metadata) -> list[str]:
    notes = []
    if collected.missing:
        notes.append(f"{collected.missing} events of this broker are missing; some may be about the entry")
    if metadata.sampling != 1:
        notes.append(f"the trace is sampled ({metadata.sampling}); events of the entry may be missing")
    return notes


class Context(NamedTuple):
    """A row of an entry with what its sentence may need."""

    broker: BrokerRows
    row: Row
    removal: EntryEvent | None
    entered: bool

    @property
    def begin(self) -> Row:
        """The PASS_BEGIN of the pass of this row; empty if the trace lacks it."""
        return self.broker.passes.get(self.row.get("pass_id") or -1, {})

    def config(self) -> dict[str, Any]:
        """Return the settings that were effective at this row, as the last CONFIG says."""
        texts = [row.get("value") for row in self.broker.configs if _seq(row) <= _seq(self.row)]
        try:
            config = json.loads(texts[-1] or "{}") if texts else {}
        except ValueError:
            return {}
        return config if isinstance(config, dict) else {}

    def setting(self, name: str, column: str | None = None) -> Any:
        """Return a setting: as the row or its pass has it, else as the last CONFIG has it, else None."""
        for row in (self.row, self.begin):
            if column is not None and row.get(column) is not None:
                return row[column]
        return self.config().get(name)

    def called_age(self) -> int | None:
        """Return the age in nanoseconds that the call of a time pass asked for, if it is not the time to live."""
        begin, ttl = self.begin, self.setting("ttl_nanos")
        if begin.get("cause") != "TIME" or begin.get("origin") != "CALL" or begin.get("bound") is None:
            return None
        age = int(begin["ts_ns"] - begin["bound"])
        return None if ttl is not None and abs(age - ttl) < CLOCK_SLACK_NANOS else age

    def deciding_settings(self) -> dict[str, Any]:
        """Return the settings that decided the event. A call that names an age or bytes decides in their place."""
        names = DECIDING.get((self.row["op"], self.row.get("cause") or ""), ())
        if self.begin.get("origin") == "CALL":
            called = {"max_size_bytes", "watermark"} | ({"ttl_nanos"} if self.called_age() is not None else set())
            names = tuple(name for name in names if name not in called)
        return {name: self.setting(name, ROW_SETTINGS.get(name)) for name in names}


ROW_SETTINGS: Final = {"max_requeues": "max_requeues", "extend_recently_accessed": "extend_accessed"}
"""The settings that rows carry, with their columns."""

_REQUEUES: Final = ("extend_recently_accessed", "max_requeues")
DECIDING: Final[Mapping[tuple[str, str], tuple[str, ...]]] = {
    ("EVICT", "TIME"): ("ttl_nanos", *_REQUEUES),
    ("EVICT", "SIZE"): ("max_size_bytes", "watermark", *_REQUEUES),
    ("EVICT", "TURN"): ("max_size_bytes", "segments", "mode"),
    ("EVICT", ""): ("max_size_bytes",),
    ("REQUEUE", "ACCESSED"): ("extend_recently_accessed",),
    ("REQUEUE", "EXPECTED_READS"): ("max_requeues",),
    ("SKIP", "DISABLED"): ("max_size_bytes",),
    ("SKIP", "FULL"): ("max_size_bytes", "segments"),
    ("SKIP", "NOT_WANTED"): ("evict_by_expected_reads", "grace_millis"),
    ("REMOVE", "CURSOR"): ("evict_by_mark_deleted", "evict_by_expected_reads"),
}
"""The settings that decide an event, by its op and cause."""


def _bytes(row: Row) -> str:
    return "" if row.get("size_bytes") is None else f" with {row['size_bytes']} bytes"


def _reads(count: int | None) -> str:
    return "no count of expected reads" if count is None else f"{count} expected read{'' if count == 1 else 's'}"


def _insert(context: Context) -> str:
    row = context.row
    by = {"ADD": "A producer added it", "FILL": "A read from storage filled it in"}.get(
        row.get("cause") or "", "It entered"
    )
    count = f", {_reads(row['expected_reads'])}" if row.get("expected_reads") is not None else ""
    return f"{by}{_bytes(row)}{count}."


def _put(context: Context) -> str:
    state = "to be handed to the listener later" if context.row.get("dirty") else "as read from the underlying store"
    new = "replaced its value" if context.entered else "put it into the cache"
    return f"A write {new}{_bytes(context.row)}, {state}."


def _skip(context: Context) -> str:
    reasons = {
        "DISABLED": "caching is off (max_size_bytes is 0)",
        "FULL": f"it had no room ({context.row['bytes_after']} bytes were cached)",
        "NOT_WANTED": "no reader was expected to want it",
    }
    reason = reasons.get(context.row.get("cause") or "", "the trace names no cause")
    return f"It was offered{_bytes(context.row)} and not cached: {reason}."


def _hit(context: Context) -> str:
    kind = {"READ": "A read of a range", "REPLAY": "A replay of single positions"}.get(context.row.get("cause") or "")
    return f"{kind or 'A lookup'} found it in the cache."


def _miss(context: Context) -> str:
    kind = {"READ": "A read of a range", "REPLAY": "A replay of single positions"}.get(context.row.get("cause") or "")
    if context.removal is not None:
        before = f"it had left at seq {context.removal.seq}"
    elif context.entered:
        before = "although the rows before say that it was cached: entrycache audit judges this"
    else:
        before = "it had not entered the cache before in this trace"
    return f"{kind or 'A lookup'} did not find it: {before}."


def _read_done(context: Context) -> str:
    by = {"REMOVED": "Its removal", "REJECTED": "A rejected duplicate"}.get(
        context.row.get("cause") or "", "A delivery"
    )
    return f"{by} lowered its count: {_reads(context.row.get('expected_reads'))} left."


def _pass_name(context: Context) -> str:
    kind = {"TIME": "time pass", "SIZE": "size pass"}.get(str(context.begin.get("cause")), "pass")
    origin = {
        "TRIGGER": ", which an insertion triggered,",
        "CYCLE": " of the schedule",
        "CALL": ", which a call asked for,",
    }.get(str(context.begin.get("origin")), "")
    return f"{kind}{origin}"


def _requeue(context: Context) -> str:
    row, most = context.row, context.setting("max_requeues", "max_requeues")
    if row.get("cause") == "ACCESSED":
        reason = "it had been read since the last check (extend_recently_accessed is on)"
    else:
        verb = "was" if row.get("expected_reads") == 1 else "were"
        reason = f"{_reads(row.get('expected_reads'))} {verb} still to come"
    budget = (
        "" if row.get("requeues") is None else f"; requeue {row['requeues']}, max_requeues is {_setting_text(most)}"
    )
    return f"A {_pass_name(context)} put it back to the tail of the removal queue, because {reason}{budget}."


def _setting_text(value: object) -> str:
    return "unknown" if value is None else json.dumps(value)


def _age(context: Context) -> str:
    stamp = context.row.get("stamp_ns")
    return "" if stamp is None else f", {(context.row['ts_ns'] - stamp) / 1e6:g} ms after its last stamp"


def _age_limit(context: Context) -> str:
    age, ttl = context.called_age(), context.setting("ttl_nanos")
    if age is not None:
        return f" (the call asked for entries older than {age / 1e6:g} ms)"
    return "" if ttl is None else f" (ttl_nanos is {ttl / 1e6:g} ms)"


def _why_not_requeued(context: Context) -> str:
    """Return why a pass of a removal queue did not keep the entry; empty for a cache without such a queue."""
    row = context.row
    if row.get("accessed") is None and row.get("expected_reads") is None and row.get("requeues") is None:
        return ""
    extends = context.setting("extend_recently_accessed", "extend_accessed")
    count, most = row.get("expected_reads") or 0, context.setting("max_requeues", "max_requeues")
    has_budget = None not in (most, row.get("requeues")) and row["requeues"] < most
    if (row.get("accessed") and extends) or (count > 0 and has_budget):
        if context.broker.variants.get("size_pass_rounds") == "one" and row.get("cause") == "SIZE":
            return " It was not put back: a size pass of this release goes round the queue once (size_pass_rounds)."
        return " Its count and flag say that it should have been put back: entrycache audit judges this."
    reasons = []
    if row.get("accessed") and extends is False:
        reasons.append("it had been read, but extend_recently_accessed is off")
    if count < 1:
        reasons.append("it expected no reads")
    elif None not in (most, row.get("requeues")):
        used = f"{row['requeues']} requeues of max_requeues {most}"
        reasons.append(f"it expected {count} more, but had used its budget ({used})")
    return f" It was not put back: {', and '.join(reasons)}." if reasons else ""


def _evict(context: Context) -> str:
    row, begin = context.row, context.begin
    if row.get("cause") == "TURN":
        return "The current segment was full. The oldest segment was cleared to become current, and it was in that one."
    if row.get("cause") == "TIME":
        return f"A {_pass_name(context)} removed it{_age(context)}{_age_limit(context)}.{_why_not_requeued(context)}"
    if row.get("cause") == "SIZE":
        need = (
            "" if begin.get("bound") is None else f" It had to free {begin['bound']} bytes of {begin['bytes_after']}."
        )
        return f"A {_pass_name(context)} removed it{_age(context)}.{need}{_why_not_requeued(context)}"
    limit = _setting_text(context.setting("max_size_bytes"))
    return f"It was evicted as the eldest entry, to keep the thread within max_size_bytes = {limit}."


REMOVAL_TEXTS: Final = {
    "RANGE": "A call removed a range of positions that holds it.",
    "CLEAR": "A call cleared its cache.",
    "CURSOR": "It was removed because the slowest cursor had moved beyond it.",
    "LEDGER": "A call removed all entries of its ledger.",
    "CLOSE": "Its cache was closed.",
}


def _remove(context: Context) -> str:
    return REMOVAL_TEXTS.get(context.row.get("cause") or "", "It was removed; the trace names no cause.")


def _delete(context: Context) -> str:
    if context.row.get("cause") == "FLUSH":
        return "It was dropped, because it is a tombstone that had been handed to the listener."
    return "A call deleted its key from the cache."


def _flush(context: Context) -> str:
    reasons = {"EVICT": "because it was evicted", "FAILED": "and the listener failed", "CALL": "by a flush"}
    return f"It was handed to the listener, {reasons.get(context.row.get('cause') or '', 'for no named cause')}."


def _of_store(value: str, deletion: str) -> Callable[[Context], str]:
    """Return the function that describes what a caching store does with an entry or its deletion."""
    texts = {"VALUE": value, "PUT": value, "DELETE": deletion}
    return lambda context: texts.get(context.row.get("cause") or "", f"{value} The trace names no cause.")


def _view_entry(context: Context) -> str:
    ways = {"FORWARD": "in order", "BACKWARD": "backward"}
    return f"A view of its store answered it, {ways.get(context.row.get('cause') or '', 'for no named cause')}."


def _snapshot(context: Context) -> str:
    return f"A snapshot shows it in the cache{_bytes(context.row)}."


SENTENCES: Final[Mapping[str, Callable[[Context], str]]] = {
    "INSERT": _insert,
    "PUT": _put,
    "REJECT": lambda context: "It was offered again and rejected, because it was cached already.",
    "SKIP": _skip,
    "HIT": _hit,
    "MISS": _miss,
    "READ_DONE": _read_done,
    "EXPECT": lambda context: f"One more read is expected: {_reads(context.row.get('expected_reads'))}.",
    "REQUEUE": _requeue,
    "EVICT": _evict,
    "REMOVE": _remove,
    "DELETE": _delete,
    "FLUSH": _flush,
    "SNAPSHOT": _snapshot,
    "BELOW": _of_store("Its store wrote it below.", "Its store deleted it below."),
    "FORWARD": _of_store("Its store forwarded it.", "Its store forwarded its deletion."),
    "VIEW_ENTRY": _view_entry,
}
"""The function that describes each event."""


def life_lines(entry: Entry, lives: list[BrokerLife]) -> list[str]:
    """Return the life of an entry as lines of text, broker by broker."""
    lines = []
    for life in lives:
        lines.append(f"{entry.label} of cache {describe_value(entry.cache)} in broker {describe_value(life.broker)}:")
        for event in life.events:
            times = f" ({event.times} times in a row)" if event.times > 1 else ""
            lines.append(f"  seq {event.seq}, {event.seconds:.6f} s: {event.text}{times}")
            if event.settings:
                decided = ", ".join(f"{name} = {json.dumps(value)}" for name, value in event.settings.items())
                lines.append(f"    settings that decided: {decided}")
        lines += [f"  {life.end}", *(f"  note: {note}" for note in life.notes)]
    return lines


def life_json(entry: Entry, lives: list[BrokerLife]) -> dict[str, Any]:
    """Return the life of an entry as one JSON object."""
    return {
        "schema": 1,
        "cache": entry.cache,
        "position": None if entry.position is None else list(entry.position),
        "key_hash": entry.key_hash,
        "brokers": [{**life._asdict(), "events": [event._asdict() for event in life.events]} for life in lives],
    }
