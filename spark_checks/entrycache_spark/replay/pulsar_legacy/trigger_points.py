"""The events of a replayed `pulsar-legacy` broker, its effective settings, offers and reads.

`read_events` returns the events of a broker, each with the state of its position before it. `Offers` compares the bytes
at the beginning of each offer with the trigger. `Reads` checks each event at its position, and each call once all of it
is known. `rules_of` returns the rules that one event exercises.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from entrycache_reference.pulsar_legacy.config import STORED_BYTES, Config
from entrycache_reference.pulsar_legacy.passes import target_bytes, trigger_bytes
from entrycache_spark.common.system import parse_config, unnamed_settings
from entrycache_spark.replay.pulsar_pip430.trigger_points import SHOWING, Facts, Reporter, Row, held_bytes, is_open
from entrycache_spark.systems import pulsar_legacy, pulsar_pip430


class EffectiveValues(NamedTuple):
    """The effective settings, with thresholds computed by the reference; None for an unknown value."""

    untold: frozenset[str]
    limit_bytes: int | None
    trigger_bytes: int | None
    target_bytes: int | None
    manual: bool | None


class PositionState(NamedTuple):
    """The state of a position before an event; None: not known. `changed`: the event that changed it last."""

    is_in: bool | None
    changed: Row | None


@dataclass(frozen=True)
class Moment:
    """One event. `before` and `after` are its neighbours, None where events are missing between."""

    row: Row
    before: Row | None
    after: Row | None
    island: int
    whole: bool
    """Nothing is missing since the first event, that is CONFIG, and nothing was cached before."""
    settings: EffectiveValues | None
    held: PositionState


def settings_by_row(broker: str, rows: Iterable[Row]) -> list[EffectiveValues | None]:
    """Return the effective settings at each row."""
    settings: list[EffectiveValues | None] = []
    now: EffectiveValues | None = None
    for row in rows:
        if row["op"] == "CONFIG":
            now = _effective_values(broker, row)
        settings.append(now)
    return settings


def _effective_values(broker: str, row: Row) -> EffectiveValues | None:
    values = parse_config(row["value"], pulsar_legacy.KINDS, f"broker {broker!r}, seq {row['seq']}")
    if values is None:
        return None
    limit, watermark = values["max_size_bytes"], values["watermark"]
    config_values = {"max_size_bytes": limit, "watermark": watermark}
    config = Config(**{name: value for name, value in config_values.items() if value is not None})
    return EffectiveValues(
        frozenset(unnamed_settings(values, pulsar_legacy.KINDS)),
        limit,
        None if limit is None else trigger_bytes(config),
        None if limit is None or watermark is None else target_bytes(config),
        pulsar_pip430.IS_MANUAL.get(values["eviction"]),
    )


def read_events(name: str, rows: list[Row], facts: Facts, sampled: bool) -> list[Moment]:
    """Return the events of a broker, each with the state before it."""
    settings = settings_by_row(name, rows)
    events: list[Moment] = []
    changes: dict[object, Row] = {}
    island = 0
    for at, row in enumerate(rows):
        before, after = (rows[at - 1] if at else None), (rows[at + 1] if at + 1 < len(rows) else None)
        if before is not None and (sampled or before["seq"] + 1 != row["seq"]):
            island, before = island + 1, None
            changes.clear()
        if after is not None and (sampled or row["seq"] + 1 != after["seq"]):
            after = None
        place = (row["cache"], row["ledger_id"], row["entry_id"])
        changed = changes.get(place)
        is_in = None if changed is not None else False if facts.starts and island == 0 else None
        is_in = is_in if changed is None else changed["op"] in ("INSERT", "SNAPSHOT")
        whole = facts.fresh and island == 0
        events.append(Moment(row, before, after, island, whole, settings[at], PositionState(is_in, changed)))
        begins = row["op"] == "INSERT" or (is_open(row) and row["life"] is not None)
        if row["entry_id"] is not None and (begins or row["op"] in ("EVICT", "REMOVE")):
            changes[place] = row
    return events


def is_offer(row: Row | None) -> bool:
    """Return whether an entry was offered to the cache."""
    if row is None:
        return False
    return row["op"] in ("INSERT", "REJECT") or (row["op"] == "SKIP" and row["cause"] in ("FULL", "DISABLED"))


def is_triggered(row: Row | None, op: str) -> bool:
    """Return whether it begins or ends a requested size pass."""
    return row is not None and (row["op"], row["cause"], row["origin"]) == (op, "SIZE", "TRIGGER")


def known(*values: object) -> bool:
    """Return whether all values are known."""
    return None not in values


def ascends(row: Row, before: Row) -> bool:
    """Return whether a position lies behind another one, as far as both are known."""
    if not known(row["ledger_id"], before["ledger_id"]):
        return True
    if row["ledger_id"] != before["ledger_id"]:
        return bool(row["ledger_id"] > before["ledger_id"])
    return not known(row["entry_id"], before["entry_id"]) or bool(row["entry_id"] > before["entry_id"])


# ---------- applicable rules

REMOVALS: Final = {
    "RANGE": "L-INVALIDATE-1",
    "CLEAR": "L-INVALIDATE-2",
    "CURSOR": "L-INVALIDATE-3",
    "LEDGER": "L-INVALIDATE-4",
    "CLOSE": "L-INVALIDATE-5",
}


def rules_of(row: Row, settings: EffectiveValues | None, facts: Facts) -> Iterable[str]:
    """Return the rules that apply to one event."""
    op, cause, has_life = row["op"], row["cause"], row["life"] is not None
    yield "L-STATE-2"
    if has_life or op in ("PASS_BEGIN", "PASS_END"):
        yield "L-LIVENESS-1"
    if op in ("INSERT", "EVICT", "REMOVE"):
        yield "L-STATE-1"
    if op in ("INSERT", "PASS_BEGIN"):
        yield "L-STATE-3"
    if op == "END" or (has_life and op in SHOWING):
        yield "L-STATE-4"
    if op == "REMOVE" and cause in REMOVALS:
        yield REMOVALS[cause]
    if op == "CACHE_CLOSE":
        yield REMOVALS["CLOSE"]
    yield from _of_offers(row, settings, facts)
    yield from _of_lookups(row)
    yield from _of_passes(row, settings)


def _of_offers(row: Row, settings: EffectiveValues | None, facts: Facts) -> Iterable[str]:
    op, cause = row["op"], row["cause"]
    manual = settings is not None and bool(settings.manual)
    duplicate = (op, cause) == ("REJECT", "DUPLICATE")
    if op == "INSERT" or duplicate or (op, cause) == ("SNAPSHOT", "OPEN"):
        yield "L-INSERT-1"
    if op == "INSERT" or duplicate:
        yield "L-INSERT-5"
    if op == "INSERT":
        yield from ("L-INSERT-2", "L-INSERT-3")
        yield from ("L-TRIGGER-3",) if manual and not facts.many else ()
    if op in ("INSERT", "SKIP") and cause != "NOT_WANTED":
        yield "L-INSERT-4"
    if not manual and (op == "REJECT" or (op, cause) == ("SKIP", "FULL")):
        yield "L-TRIGGER-7"
    if not manual and (op == "INSERT" or is_triggered(row, "PASS_BEGIN")):
        yield "L-TRIGGER-2"


def _of_lookups(row: Row) -> Iterable[str]:
    op, cause = row["op"], row["cause"]
    if op in ("HIT", "MISS"):
        yield from {"GET": ("L-READ-1",), "READ": ("L-READ-4",)}.get(cause, ())
    if (op, cause) == ("HIT", "GET"):
        yield "L-READ-2"
    if op in ("MISS", "INSERT") and cause in ("READ", "FILL"):
        yield "L-READ-5"
    if (op, cause) == ("SKIP", "NOT_WANTED"):
        yield "L-READ-6"


def _of_passes(row: Row, settings: EffectiveValues | None) -> Iterable[str]:
    op, cause = row["op"], row["cause"]
    manual = settings is not None and bool(settings.manual)
    states = row["trigger_bytes"] is not None or row["target_bytes"] is not None
    if op in ("PASS_BEGIN", "PASS_END") and cause == "SIZE" and states:
        yield "L-TRIGGER-1"
    if op in ("PASS_END", "EVICT") and cause == "TIME":
        yield "L-EXPIRE-1"
    if op == "EVICT":
        yield from {"TIME": ("L-EXPIRE-2",), "SIZE": ("L-EVICT-1", "L-EVICT-2")}.get(cause, ())
    if op == "PASS_BEGIN" and cause == "SIZE":
        yield "L-EVICT-1"
        if row["cache"] is None:
            yield from ("L-EVICT-3", "L-EVICT-4", "L-EVICT-5")
    if is_triggered(row, "PASS_BEGIN"):
        yield "L-TRIGGER-6"
        if manual:
            yield from ("L-TRIGGER-4", "L-TRIGGER-5")


# ---------- offers


class Offers:
    """The bytes at the beginning of each offer, and the requests since the last pass."""

    def __init__(self, facts: Facts, report: Reporter) -> None:
        self._report = report
        self._sure = not facts.many and not facts.gapped
        self._one = not facts.many
        self._island = -1
        self._forget()

    def _forget(self) -> None:
        self._begin_row: Row | None = None
        self._requests: list[tuple[Row, int]] = []

    def follow(self, now: Moment) -> None:
        """Read one event."""
        if now.island != self._island:
            self._island = now.island
            self._forget()
        row, settings = now.row, now.settings or EffectiveValues(frozenset(), None, None, None, None)
        if is_offer(row):
            self._offered(now, settings)
        if is_triggered(row, "PASS_BEGIN"):
            self._begins(now, settings)
            self._begin_row, self._requests = row, []
        if is_triggered(row, "PASS_END") and settings.manual is False and now.after is not None:
            follows = is_offer(now.after) and known(row["call_id"]) and now.after["call_id"] == row["call_id"]
            if not follows:
                self._report("L-TRIGGER-2", row, "the offer that requested it", now.after["op"], [], self._one)

    def _offered(self, now: Moment, settings: EffectiveValues) -> None:
        row, before = now.row, now.before
        if before is None:
            return
        own_pass = is_triggered(before, "PASS_END") and known(row["call_id"]) and before["call_id"] == row["call_id"]
        shown_by = self._begin_row if own_pass else before
        if shown_by is None:
            return
        held, seqs = held_bytes(shown_by), [shown_by["seq"], row["seq"]]
        limit, trigger, target = settings.limit_bytes, settings.trigger_bytes, settings.target_bytes
        if limit is not None and row["op"] == "INSERT" and held >= limit:
            self._report("L-INSERT-3", row, "SKIP FULL", held, seqs, self._sure)
        if limit is not None and (row["op"], row["cause"]) == ("SKIP", "FULL") and held < limit:
            self._report("L-INSERT-4", row, "INSERT", held, seqs, self._sure)
        if trigger is None or target is None or held <= trigger:
            return
        if settings.manual:
            self._requests.append((row, held - target))
        elif settings.manual is False and not own_pass and held > target:
            rule = "L-TRIGGER-2" if row["op"] == "INSERT" else "L-TRIGGER-7"
            self._report(rule, row, "a size pass before it", held, seqs, self._sure)

    def _begins(self, now: Moment, settings: EffectiveValues) -> None:
        """Check a requested size pass."""
        row = now.row
        if settings.manual:
            self._scheduled(now)
            return
        if settings.manual is None:
            return
        held = held_bytes(row)
        stated = row["trigger_bytes"] is not None
        trigger = row["trigger_bytes"] if stated else settings.trigger_bytes
        if trigger is not None and held <= trigger:
            self._report("L-TRIGGER-2", row, f"no pass at {held}", trigger, [], self._one and (self._sure or stated))
        stated = row["target_bytes"] is not None
        target = row["target_bytes"] if stated else settings.target_bytes
        if target is not None and row["bound"] not in (None, held - target):
            self._report("L-TRIGGER-1", row, held - target, row["bound"], [], self._one and (self._sure or stated))

    def _scheduled(self, now: Moment) -> None:
        row, bound = now.row, now.row["bound"]
        if not now.whole:
            return
        amounts = [(request["seq"], amount) for request, amount in self._requests if amount > 0]
        sure = self._one and len(amounts) == len(self._requests)
        if not amounts:
            self._report("L-TRIGGER-5", row, "no pass", bound, [], sure)
        elif bound is not None and bound != amounts[0][1]:
            rule = "L-TRIGGER-4" if bound == amounts[-1][1] else "L-TRIGGER-5"
            self._report(rule, row, amounts[0][1], bound, [amounts[0][0], row["seq"]], sure)


# ---------- reads


@dataclass
class Call:
    """The lookups and offers of a call, in their order."""

    events: list[Moment] = field(default_factory=list)

    def of(self, *kind: str) -> list[Moment]:
        """Those of an op and a cause."""
        return [now for now in self.events if (now.row["op"], now.row["cause"]) == kind]


class Reads:
    """Each event at its position, and each call when all of it is known."""

    def __init__(self, facts: Facts, report: Reporter, by_object: bool) -> None:
        self._facts = facts
        self._report = report
        self._one = not facts.many
        self._by_object = by_object
        self._calls: defaultdict[int, Call] = defaultdict(Call)

    def follow(self, now: Moment) -> None:
        """Read one event."""
        row, op, cause = now.row, now.row["op"], now.row["cause"]
        if (op, cause) == ("REJECT", "DUPLICATE"):
            self._rejected(now)
        if op == "HIT" and cause == "READ" and row["entry_id"] is not None and now.held.is_in is not None:
            changed = now.held.changed
            other = changed is not None and row["life"] is not None and row["life"] != changed["life"]
            if not now.held.is_in or other:
                self._report("L-READ-4", row, "the cached entry", row["life"], [], self._one)
        is_lookup = op in ("HIT", "MISS") and cause in ("GET", "READ")
        if row["call_id"] is not None and (is_lookup or is_offer(row) or (op, cause) == ("SKIP", "NOT_WANTED")):
            self._calls[row["call_id"]].events.append(now)

    def _rejected(self, now: Moment) -> None:
        row, changed = now.row, now.held.changed
        own = changed is not None and known(row["call_id"], row["entry_id"]) and changed["seq"] >= row["call_id"]
        if own and changed is not None and now.held.is_in is False:
            self._report("L-INSERT-5", row, "INSERT", "REJECT", [changed["seq"], row["seq"]], self._one)

    def finish(self) -> None:
        """Judge the calls."""
        for call in self._calls.values():
            self._in_order(call)
            singles = call.of("SKIP", "NOT_WANTED")
            misses = call.of("MISS", "READ")
            if singles:
                self._single(call, misses, singles)
            else:
                self._ranged(call, misses)

    def _in_order(self, call: Call) -> None:
        """Compare each lookup with the one before it in the same call."""
        last: dict[str, Row] = {}
        for now in call.events:
            row, cause = now.row, now.row["cause"]
            if row["op"] not in ("HIT", "MISS"):
                continue
            before = last.get(cause)
            last[cause] = row
            if before is None:
                continue
            other = known(row["cache"], before["cache"]) and row["cache"] != before["cache"]
            if (row["op"], cause) == ("HIT", "GET") and (other or not ascends(row, before)):
                self._report("L-READ-2", row, "ascending positions", row["entry_id"], [before["seq"]], self._one)
            if cause == "READ" and (other or not _follows(row, before)):
                self._report("L-READ-4", row, "the next position", row["entry_id"], [before["seq"]], self._one)

    def _single(self, call: Call, misses: list[Moment], singles: list[Moment]) -> None:
        for now in call.events:
            missed = now in misses and now.held.is_in and now.row["entry_id"] is not None and not self._by_object
            apart = now in singles and (len(misses) != 1 or self._astray(now.row, misses[0].row, 0))
            if is_offer(now.row) or missed or apart:
                self._report(
                    "L-READ-6", now.row, "one MISS, no offer", now.row["op"], [], self._one and not self._facts.gapped
                )
        self._mixed(call, misses)

    def _mixed(self, call: Call, misses: list[Moment]) -> None:
        for now in misses if call.of("HIT", "READ") else ():
            self._report("L-READ-4", now.row, "all from one place", "MISS", [], self._one)

    def _ranged(self, call: Call, misses: list[Moment]) -> None:
        self._mixed(call, misses)
        held = [now for now in misses if now.held.is_in and now.row["entry_id"] is not None]
        looked = [now for now in call.events if now.row["op"] in ("HIT", "MISS") and now.row["cause"] == "READ"]
        if misses and len(held) == len(misses) and looked[0] is misses[0]:
            self._report("L-READ-4", misses[0].row, "HIT: all of it is cached", "MISS", [], self._one)
        offers = [now.row for now in call.events if is_offer(now.row)]
        for number, row in enumerate(offers):
            fill = (row["op"], row["cause"]) == ("INSERT", "FILL")
            if (fill and not misses) or (misses and self._astray(row, misses[0].row, number)):
                self._report(
                    "L-READ-5", row, "a fill of a miss", row["entry_id"], [], self._one and not self._facts.gapped
                )
        if misses and len(offers) != len(misses):
            sure = self._one and self._facts.complete
            last = call.events[-1].row
            self._report("L-READ-5", last, f"{len(misses)} offers", len(offers), [], sure)

    def _astray(self, row: Row, first: Row, number: int) -> bool:
        """Return whether an offer is not the one of this number that a read makes which first missed there."""
        wrong = row["op"] == "INSERT" and row["cause"] not in (None, "FILL")
        wrong |= row["size_bytes"] not in (None, STORED_BYTES)
        for name, more in (("cache", None), ("ledger_id", 0), ("entry_id", number)):
            if known(row[name], first[name]):
                wrong |= row[name] != (first[name] if more is None else first[name] + more)
        return bool(wrong)


def _follows(row: Row, before: Row) -> bool:
    """Return whether a position is the next one of the same ledger, as far as both are known."""
    if known(row["ledger_id"], before["ledger_id"]) and row["ledger_id"] != before["ledger_id"]:
        return False
    return not known(row["entry_id"], before["entry_id"]) or bool(row["entry_id"] == before["entry_id"] + 1)
