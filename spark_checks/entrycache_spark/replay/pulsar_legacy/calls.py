"""The calls and passes that the rows of a `pulsar-legacy` broker show, and the answers of the reference to them.

`CallRows` groups the rows. `extract_offer`, `extract_lookup`, `extract_pass`, `extract_removal` and `extract_read`
return the request that rows show. `answer`, `count_evictions` and `answer_shares` step the reference over it.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from entrycache_reference.pulsar_legacy import ops
from entrycache_reference.pulsar_legacy.config import Config, Eviction, SingleLookup, Variants
from entrycache_reference.pulsar_legacy.passes import target_bytes, trigger_bytes
from entrycache_reference.pulsar_legacy.state import Cache, Entry, State, Step
from entrycache_reference.pulsar_legacy.state import Row as ReferenceRow
from entrycache_reference.pulsar_legacy.step import step
from entrycache_reference.vocabulary import CacheName, Position
from entrycache_spark.common.system import ConfigObject
from entrycache_spark.replay.common import Facts as AnyFacts
from entrycache_spark.replay.common import Row, differ, is_event
from entrycache_spark.systems.pulsar_pip430 import IS_MANUAL

DEFAULTS: Final = Config()
OBJECTS: Final = Config(variants=Variants(SingleLookup.OBJECT))

MOVES: Final = ("INSERT", "EVICT", "REMOVE")
LEAVES: Final = ("EVICT", "REMOVE")
BOUNDS: Final = ("PASS_BEGIN", "PASS_END")
SHOWS: Final = (*MOVES, "HIT", "SNAPSHOT")
"""The events that show the values of an entry."""

THRESHOLDS: Final = ("trigger_bytes", "target_bytes")
PLACE: Final = ("cache", "ledger_id", "entry_id")

REMOVALS: Final = {
    "RANGE": "L-INVALIDATE-1",
    "CLEAR": "L-INVALIDATE-2",
    "CURSOR": "L-INVALIDATE-3",
    "LEDGER": "L-INVALIDATE-4",
    "CLOSE": "L-INVALIDATE-5",
}
ORDER: Final = {"TIME": "L-EXPIRE-2", "SIZE": "L-EVICT-1"}
RULES_OF_LEFTOVERS: Final = {**REMOVALS, **ORDER, "GET": "L-READ-2"}
"""The rules that an entry violates which a call or a pass passes over, by the cause of the rows."""


class Manager(NamedTuple):
    """The effective settings: those of the reference, and the values that follow from them; None for an unknown one."""

    config: Config = DEFAULTS
    has_limit: bool = False
    trigger_bytes: int | None = None
    target_bytes: int | None = None
    manual: bool | None = None


Facts = AnyFacts[Manager]


def manager_after(values: ConfigObject | None, before: Manager) -> Manager:
    """Return the settings from a CONFIG on."""
    if values is None:
        return Manager()
    limit, watermark, manual = values["max_size_bytes"], values["watermark"], IS_MANUAL.get(values["eviction"])
    known = {name: values[name] for name in ("max_size_bytes", "watermark") if values[name] is not None}
    config = Config(**known, eviction=Eviction.MANUAL if manual else Eviction.INLINE)
    trigger = None if limit is None else trigger_bytes(config)
    target = None if limit is None or watermark is None else target_bytes(config)
    return Manager(config, limit is not None, trigger, target, manual)


# ---------- rows


def is_requested(row: Row | None, op: str) -> bool:
    """Return whether a row begins or ends a size pass that an insert requested."""
    return row is not None and (row["op"], row["cause"], row["origin"]) == (op, "SIZE", "TRIGGER")


def is_offer(row: Row) -> bool:
    """Return whether an entry was offered to the cache."""
    return row["op"] in ("INSERT", "REJECT") or (row["op"] == "SKIP" and row["cause"] in ("FULL", "DISABLED"))


def begins_life(row: Row) -> bool:
    """Return whether a row begins the life of an entry."""
    return row["op"] == "INSERT" or is_event(row, "SNAPSHOT", "OPEN")


def is_placed(row: Row) -> bool:
    """Return whether a row names a ledger and an entry."""
    return None not in (row["ledger_id"], row["entry_id"])


def is_in_call(row: Row | None, other: Row) -> bool:
    """Return whether two rows are known to be of the same call."""
    return row is not None and row["call_id"] is not None and bool(row["call_id"] == other["call_id"])


def bytes_of(row: Row) -> int:
    """Return the manager's own bytes, or else the sum."""
    return int(row["bytes_after"] if row["manager_bytes"] is None else row["manager_bytes"])


def ascends(row: Row, before: Row) -> bool:
    """Return whether a position lies behind another one, as far as both are known."""
    if differ(row["ledger_id"], before["ledger_id"]) or None in (row["ledger_id"], before["ledger_id"]):
        return None in (row["ledger_id"], before["ledger_id"]) or bool(row["ledger_id"] > before["ledger_id"])
    return None in (row["entry_id"], before["entry_id"]) or bool(row["entry_id"] > before["entry_id"])


def follows(row: Row, before: Row) -> bool:
    """Return whether a position is the next one of the same ledger, as far as both are known."""
    following = None if before["entry_id"] is None else before["entry_id"] + 1
    return not (differ(row["ledger_id"], before["ledger_id"]) or differ(row["entry_id"], following))


# ---------- the rules of a row

RULES_BY_OP: Final[Mapping[str, tuple[str, ...]]] = {
    "INSERT": (
        *("L-INSERT-1", "L-INSERT-2", "L-INSERT-3", "L-INSERT-4", "L-INSERT-5"),
        *("L-LIVENESS-1", "L-STATE-1", "L-STATE-3"),
    ),
    "PASS_BEGIN": ("L-LIVENESS-1", "L-STATE-3"),
    "PASS_END": ("L-LIVENESS-1",),
    **dict.fromkeys(LEAVES, ("L-STATE-1",)),
    "END": ("L-STATE-4",),
}
RULES_BY_CAUSE: Final[Mapping[tuple[str, str | None], tuple[str, ...]]] = {
    ("REJECT", "DUPLICATE"): ("L-INSERT-1", "L-INSERT-5"),
    ("SNAPSHOT", "OPEN"): ("L-INSERT-1",),
    ("SKIP", "NOT_WANTED"): ("L-READ-6",),
    ("HIT", "GET"): ("L-READ-1", "L-READ-2"),
    ("MISS", "GET"): ("L-READ-1",),
    ("HIT", "READ"): ("L-READ-4",),
    ("MISS", "READ"): ("L-READ-4", "L-READ-5"),
    **dict.fromkeys((("MISS", "FILL"), ("INSERT", "READ"), ("INSERT", "FILL")), ("L-READ-5",)),
    ("PASS_BEGIN", "SIZE"): ("L-EVICT-1",),
    ("PASS_END", "TIME"): ("L-EXPIRE-1",),
    ("EVICT", "TIME"): ("L-EXPIRE-1", "L-EXPIRE-2"),
    ("EVICT", "SIZE"): ("L-EVICT-1", "L-EVICT-2"),
    **{("REMOVE", cause): (rule,) for cause, rule in REMOVALS.items()},
}
"""The rules that apply to a row, by op, and by op and cause."""


def applicable_rules(many: bool, row: Row, manager: Manager) -> Iterator[str]:
    """Return the rules that apply to one row; `many`: several threads caused the rows."""
    op, cause, manual = row["op"], row["cause"], bool(manager.manual)
    yield "L-STATE-2"
    yield from RULES_BY_OP.get(op, ())
    yield from RULES_BY_CAUSE.get((op, cause), ())
    if row["life"] is not None:
        yield from () if "L-LIVENESS-1" in RULES_BY_OP.get(op, ()) else ("L-LIVENESS-1",)
        yield from ("L-STATE-4",) if op in (*LEAVES, "HIT", "SNAPSHOT") else ()
    if op == "SKIP" and cause != "NOT_WANTED":
        yield "L-INSERT-4"
    if op == "INSERT" and manual and not many:
        yield "L-TRIGGER-3"
    if not manual and (op == "INSERT" or is_requested(row, "PASS_BEGIN")):
        yield "L-TRIGGER-2"
    if not manual and (op == "REJECT" or is_event(row, "SKIP", "FULL")):
        yield "L-TRIGGER-7"
    if op in BOUNDS and cause == "SIZE" and (row["trigger_bytes"] is not None or row["target_bytes"] is not None):
        yield "L-TRIGGER-1"
    if is_event(row, "PASS_BEGIN", "SIZE") and row["cache"] is None:
        yield from ("L-EVICT-3", "L-EVICT-4", "L-EVICT-5")
    if is_requested(row, "PASS_BEGIN"):
        yield from ("L-TRIGGER-6", "L-TRIGGER-4", "L-TRIGGER-5") if manual else ("L-TRIGGER-6",)


# ---------- requests, and the answers of the reference

Lookup = ops.Get | ops.ReadOne | ops.GetRange | ops.Read
Removal = ops.RemoveRange | ops.Clear | ops.InvalidateBefore | ops.InvalidateLedger | ops.RemoveCache
Request = ops.Insert | Lookup | Removal | ops.EvictCache | ops.Expire

ENTRY: Final = Entry(0, 0, None)
FIRST: Final = Position(0, 0)


class Place(NamedTuple):
    """The position of an entry in a cache."""

    cache: CacheName
    pos: Position


def place_of(row: Row) -> Place:
    """Return the position of a row."""
    return Place(row["cache"], Position(row["ledger_id"], row["entry_id"]))


def extract_offer(row: Row) -> ops.Insert:
    """Return the offer that an INSERT, REJECT or SKIP shows."""
    return ops.Insert(*place_of(row), row["size_bytes"] or 0)


def extract_lookup(row: Row) -> ops.Get | ops.ReadOne:
    """Return the lookup of one position that a HIT or MISS shows."""
    return ops.Get(*place_of(row)) if row["cause"] == "GET" else ops.ReadOne(*place_of(row))


def extract_pass(row: Row) -> ops.EvictCache | ops.Expire | None:
    """Return the pass that a PASS_BEGIN shows, or None; one over all caches has the amount of one over a cache."""
    cache = CacheName(row["cache"] or "")
    if row["bound"] is None or row["cause"] not in ORDER:
        return None
    is_timed = row["cause"] == "TIME"
    return ops.Expire(cache, row["ts_ns"] - row["bound"]) if is_timed else ops.EvictCache(cache, row["bound"])


def extract_removal(rows: Sequence[Row]) -> Request:
    """Return the call that found or removed the entries of these rows; a pass takes the lowest ones."""
    cache, cause = CacheName(rows[0]["cache"]), rows[0]["cause"]
    places = [place_of(row).pos for row in rows if is_placed(row)]
    lowest, highest = (min(places), max(places)) if places else (FIRST, FIRST._replace(entry=-1))
    requests: Mapping[str, Request] = {
        "RANGE": ops.RemoveRange(cache, lowest, highest, True),
        "CLEAR": ops.Clear(cache),
        "CURSOR": ops.InvalidateBefore(cache, highest._replace(entry=highest.entry + 1)),
        "LEDGER": ops.InvalidateLedger(cache, rows[0]["ledger_id"]),
        "CLOSE": ops.RemoveCache(cache),
        "GET": ops.GetRange(cache, lowest, highest),
    }
    return requests.get(cause, ops.EvictCache(cache, 1))


def extract_read(first: Row, entries: int) -> ops.Read:
    """Return the read of so many positions whose first MISS this is; 0 stands for an unknown number."""
    pos = Position(first["ledger_id"] or 0, first["entry_id"] or 0)
    return ops.Read(CacheName(first["cache"]), pos, pos._replace(entry=pos.entry + entries - 1))


def answer(
    request: Request, entries: Mapping[Position, Entry] | None = None, used_bytes: int = 0,
    config: Config = DEFAULTS, now_nanos: int = 0,
) -> Step:  # fmt: skip
    """Step the reference over a request, with these entries in its cache and so many bytes in the manager."""
    caches = {request.cache: Cache(entries, sum(entry.size_bytes for entry in entries.values()))} if entries else {}
    return step(State(now_nanos, caches, used_bytes), request, config)


def is_astray(row: Row, wanted: ReferenceRow, first: Row) -> bool:
    """Return whether an offer differs from the reference's in size, or in what is known of its position."""
    names = [name for name in PLACE if first[name] is not None]
    return differ(row["size_bytes"], wanted.size_bytes) or any(
        differ(row[name], getattr(wanted, name)) for name in names
    )


def count_evictions(cache: str, share_bytes: int, rows: Sequence[Row], others: int) -> int:
    """Return how many of these entries the reference evicts for a share; one more if others have to follow."""
    sizes = [row["size_bytes"] or 0 for row in rows] + [0] * (others > 0)
    entries = {Position(0, at): Entry(size, 0, None) for at, size in enumerate(sizes)}
    evicted = answer(ops.EvictCache(CacheName(cache), share_bytes), entries).rows
    return max(0, len(evicted) - len(BOUNDS))


def answer_shares(need_bytes: int, bytes_by_cache: Mapping[str, int]) -> tuple[Mapping[str, int], Sequence[str]]:
    """Return the bytes that the caches give in a size pass of the reference, and the caches that it chooses."""
    caches = {CacheName(name): Cache({FIRST: Entry(size, 0, None)}, size) for name, size in bytes_by_cache.items()}
    result = step(State(0, caches, sum(bytes_by_cache.values())), ops.Evict(max(1, need_bytes)), DEFAULTS)
    parts = [part.event for part in result.parts if need_bytes > 0]
    return {part.cache: part.bytes for part in parts if isinstance(part, ops.EvictCache)}, result.givers


# ---------- the rows of passes and calls


def removal_of(row: Row) -> tuple[Any, ...] | None:
    """Return the call or pass whose entries a row is one of, if it removes or finds entries; None for other rows."""
    op, cause = row["op"], row["cause"]
    number = row["pass_id"] if op == "EVICT" else row["call_id"]
    is_one = (op == "REMOVE" and cause in REMOVALS) or (op == "EVICT" and cause in ORDER) or is_event(row, "HIT", "GET")
    is_placed = row["entry_id"] is not None and (op == "REMOVE" or row["ledger_id"] is not None)
    if number is None or not is_one or not (is_placed or cause == "CLOSE"):
        return None
    return row["cache"], cause, row["ledger_id"] if cause == "LEDGER" else None, number


class CallRows:
    """The rows of each pass and of each call, in their order, and the first row of each life."""

    def __init__(self, facts: Facts) -> None:
        self.passes: defaultdict[int, list[Row]] = defaultdict(list)
        self.begin_values: defaultdict[int, dict[str, Any]] = defaultdict(dict)
        """The amount or cutoff and the cache of each pass, by its PASS_BEGIN."""
        self.ends: dict[int, Row] = {}
        """The last PASS_END of a size pass that no missing event precedes, and no move of unknown size or cache."""
        self.calls: defaultdict[int, list[Row]] = defaultdict(list)
        """The lookups and offers of a call."""
        self.removals: defaultdict[tuple[Any, ...], list[Row]] = defaultdict(list)
        self.begins: defaultdict[int, list[Row]] = defaultdict(list)
        is_known = True
        for row, whole in zip(facts.rows, facts.whole, strict=True):
            op, cause, pass_id, call_id = row["op"], row["cause"], row["pass_id"], row["call_id"]
            is_known &= op not in MOVES or None not in (row["size_bytes"], row["cache"])
            if pass_id is not None and op in (*BOUNDS, "EVICT"):
                self.passes[pass_id].append(row)
                if op == "PASS_BEGIN":
                    own = {name: row[name] for name in ("bound", "cache") if row[name] is not None}
                    values = self.begin_values[pass_id]
                    values.update({name: max(value, values.get(name, value)) for name, value in own.items()})
                if is_event(row, "PASS_END", "SIZE") and whole:
                    self.ends.pop(pass_id, None)
                    self.ends.update({pass_id: row} if is_known else {})
            is_lookup = op in ("HIT", "MISS") and cause in ("GET", "READ")
            if call_id is not None and (is_lookup or is_offer(row) or is_event(row, "SKIP", "NOT_WANTED")):
                self.calls[call_id].append(row)
            if (key := removal_of(row)) is not None:
                self.removals[key].append(row)
            if row["life"] is not None and begins_life(row):
                self.begins[row["life"]].append(row)
