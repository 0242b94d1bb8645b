"""Replay of `pulsar-pip430`: the loop over the rows of each broker.

Each row is applied to the reference's entries and compared with them; Python keeps a mirror of the removal queue and
the sums. A row that contradicts an entry of earlier rows is reported as a difference, beside the verdicts: all backends
decide the rules from the rows as they are. Replay gives up above a number of live slots.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from entrycache_reference.pulsar_pip430 import decision, passes
from entrycache_spark.common import results, rule_files
from entrycache_spark.replay.common import BrokerFindings, count_applicable_rows, replay_brokers
from entrycache_spark.replay.pulsar_pip430 import lookups, removals, trigger_points, triggers
from entrycache_spark.systems.pulsar_pip430 import COLUMNS, permit_variants, split_budget
from entrycache_trace.files import Metadata, Part

Row = dict[str, Any]
Level = (
    triggers.Clock
    | triggers.Frames
    | triggers.Thresholds
    | triggers.Counters
    | lookups.Lookups
    | removals.ReadCountChecks
    | lookups.Cursors
    | lookups.ReadsInFlight
    | removals.DeletedLedgers
    | removals.FailedReads
    | removals.RemovalChecks
    | trigger_points.Carriers
    | triggers.FinalTotals
    | removals.Slots
)
Report = Callable[..., None]

WITH_END = (
    *(removals.ReadCountChecks, removals.DeletedLedgers, removals.FailedReads, removals.Slots),
    lookups.ReadsInFlight,
)
"""The levels that decide something after the last row."""


class TooManySlots(Exception):
    """Raised if the trace is larger than replay is meant for."""


def replay(
    parts: Sequence[Part],
    metadata: Metadata,
    rules: Mapping[str, Sequence[rule_files.Need]],
    max_live_slots: int,
    progress: Callable[[str], None] = lambda text: None,
) -> dict[str, results.RuleFinding]:
    """Return the findings of each broker."""

    def play(name: str, rows: list[Row]) -> BrokerFindings:
        broker = BrokerReplay(name, rows, metadata, max_live_slots)
        applicable = broker.count_applicable(rules)
        try:
            broker.run()
        except TooManySlots:
            return BrokerFindings(applicable, f"more than {max_live_slots} slots")
        differences = ((one.rule, f"broker {name!r}, {one}") for one in broker.differences)
        return BrokerFindings(applicable, "", broker.missing(), broker.violations, broker.undecided, differences)

    return replay_brokers(COLUMNS, play, parts, metadata, rules, progress)


@dataclass
class PassSums:
    """The sums of a pass so far."""

    kinds: dict[str, str | None] = field(default_factory=dict)
    row_kind: str | None = None
    begin_bound: int | None = None
    need: int | None = None
    bound: int | None = None
    end_seq: int | None = None
    begin_island: int | None = None
    islands: set[int] = field(default_factory=set)
    freed_bytes: int = 0
    live_at_last: int = 0
    ended: bool = False
    unsized: bool = False

    @property
    def kind(self) -> str | None:
        """Return the kind of the pass from its PASS_BEGIN, or else from its PASS_END."""
        return self.kinds.get("PASS_BEGIN") or self.kinds.get("PASS_END")


@dataclass
class Life:
    """One life of an entry: its values that are known beforehand, and its events so far."""

    begin_seq: int | None = None
    begin_island: int | None = None
    size_bytes: int | None = None
    first_seq: int | None = None
    removed_seq: int | None = None


class BrokerReplay:
    """The replay of one broker."""

    def __init__(self, name: str, rows: list[Row], metadata: Metadata, max_live_slots: int) -> None:
        self.name = name
        self.rows = rows
        self.many = metadata.many_threads
        self.max_live_slots = max_live_slots
        self.sampled = metadata.sampled
        self.facts = trigger_points.facts_of(name, rows, metadata)
        self.starts = self.facts.starts
        self.ends = rows[-1]["op"] == "END"
        self.gapped = self.facts.gapped
        self.settings = trigger_points.settings_by_row(name, rows)
        self.unread = any(
            row["op"] == "CONFIG" and config is None for row, config in zip(rows, self.settings, strict=True)
        )
        self.numbered = not any(_unnumbered(row) for row in rows)
        self.violations: defaultdict[str, list[results.Violation]] = defaultdict(list)
        self.undecided: defaultdict[str, list[str]] = defaultdict(list)
        self.lives: defaultdict[int, Life] = defaultdict(Life)
        self.passes: defaultdict[int, PassSums] = defaultdict(PassSums)
        self.split, self.variants = split_budget(metadata), permit_variants(metadata)
        self.entries = trigger_points.ReferenceEntries(self.split, compare=not self.many)
        self.differences: list[trigger_points.Difference] = []
        self.live = 0
        self.island = 0
        self._survey()

    def missing(self) -> list[str]:
        """Return the reasons why a clean answer would claim too much."""
        if self.gapped:
            return [f"broker {self.name!r}: events are missing"]
        if not self.starts:
            return [f"broker {self.name!r}: the first event is not CONFIG, so the beginning is missing"]
        if self.unread:
            return [f"broker {self.name!r}: a CONFIG event cannot be read, so the settings are not known"]
        return [] if self.ends else [f"broker {self.name!r}: the last event is not END, so the rest is missing"]

    def count_applicable(self, needs: Mapping[str, Sequence[rule_files.Need]]) -> rule_files.Applicability:
        """Count the rows that each rule applies to."""
        rows = (
            (row, () if settings is None else settings.untold, lookups.rules_of(row, settings, self.facts))
            for row, settings in zip(self.rows, self.settings, strict=True)
        )
        return count_applicable_rows(self.name, rows, needs)

    def run(self) -> None:
        """Replay the rows in order."""
        self.queue = removals.RemovalQueue(self.numbered)
        self.sum_bytes = self.opening_bytes
        self.opened_bytes = 0
        levels = self._levels()
        before: Row | None = None
        for number, row in enumerate(self.rows):
            if before is not None and not self._follows(before, row):
                self.island += 1
                before = None
            after = self.rows[number + 1] if number + 1 < len(self.rows) else None
            next_one = after if after is not None and self._follows(row, after) else None
            whole = self.starts and self.island == 0
            moment = trigger_points.Moment(row, before, next_one, self.island, whole, self.settings[number])
            for level in levels:
                level.follow(moment)
            self._bytes(row, before)
            self._life(row)
            if row["pass_id"] is not None:
                self._pass(row)
            self._decision(row)
            self.differences += self.entries.follow(row, self.island)
            self.queue.follow(row, self.island)
            if len(self.queue) > self.max_live_slots:
                raise TooManySlots
            before = row
        for level in levels:
            if isinstance(level, WITH_END):
                level.finish()
        self._unended_passes()
        for place, seq, life, text in self.queue.findings(self.starts and not self.gapped):
            if place == 1 and self.many and not self.numbered:
                self.undecided["R-EVICT-8"].append(f"seq {seq}: {text}")
            else:
                self._violation("R-EVICT-8", seq, life, "the oldest slot", text, [seq])

    def _follows(self, before: Row, row: Row) -> bool:
        """Return whether two rows stand next to one another for certain."""
        return not self.sampled and bool(row["seq"] == before["seq"] + 1)

    def _levels(self) -> tuple[Level, ...]:
        """Return the checks of the levels manager, reads and cursors."""
        reliefs = [
            row["seq"]
            for row in self.rows
            if row["op"] == "PASS_END" and row["cause"] == "SIZE" and row["origin"] in ("TRIGGER", "CYCLE")
        ]
        begins: dict[int, int] = {}
        for row in self.rows:
            if row["op"] == "PASS_BEGIN" and row["pass_id"] is not None:
                begins[row["pass_id"]] = max(row["ts_ns"], begins.get(row["pass_id"], row["ts_ns"]))
        pairs = zip((None, *self.rows), self.rows, strict=False)
        asking = frozenset(row["cache"] for before, row in pairs if lookups.asks(row, before))
        read, added = (
            frozenset(row["cache"] for row in self.rows if row["op"] == op) for op in ("READ_BEGIN", "CURSOR_ADD")
        )
        facts = self.facts
        return (
            *(triggers.Clock(facts, self._report), triggers.Frames(facts, self._report)),
            triggers.Thresholds(facts, self._report, max(reliefs, default=None)),
            *(
                triggers.Counters(facts, self._report),
                lookups.Lookups(facts, self._report),
                removals.ReadCountChecks(facts, self._report),
            ),
            lookups.Cursors(facts, self._report, asking, read & added),
            lookups.ReadsInFlight(facts, self._report, self.variants),
            removals.DeletedLedgers(facts, self._report),
            removals.FailedReads(facts, self._report),
            removals.RemovalChecks(facts, self._report, self.rows),
            trigger_points.Carriers(facts, self._report, self.split, begins),
            triggers.FinalTotals(facts, self._report, self.numbered),
            removals.Slots(facts, self._report, self.numbered, self.rows, self.sampled),
        )

    def _report(
        self, rule: str, row: Row, wanted: object, observed: object, seqs: Iterable[int | None], sure: bool
    ) -> None:
        """Report a violation, or store it as undecided if it is not sure."""
        if sure:
            witnesses = [seq for seq in seqs if seq is not None] or [row["seq"]]
            self._violation(rule, row["seq"], row["life"], wanted, observed, witnesses)
        else:
            self.undecided[rule].append(f"{rule}: broker {self.name!r}, seq {row['seq']}: {observed}")

    def _violation(
        self, rule: str, seq: int, life: int | None, wanted: object, observed: object, seqs: Iterable[int]
    ) -> None:
        self.violations[rule].append(
            results.Violation(rule, self.name, seq, life, str(wanted), str(observed), tuple(seqs))
        )

    def _survey(self) -> None:
        """Collect the facts of later rows that the check of a row needs."""
        self.opening_bytes = island = 0
        for before, row in zip((None, *self.rows), self.rows, strict=False):
            island += before is not None and not self._follows(before, row)
            op, life, pass_id = row["op"], row["life"], row["pass_id"]
            opens = op == "SNAPSHOT" and row["cause"] == "OPEN"
            if opens:
                self.opening_bytes += row["size_bytes"] or 0
            if life is not None and (op == "INSERT" or opens):
                known = self.lives[life]
                known.begin_seq = row["seq"] if known.begin_seq is None else known.begin_seq
                sizes = [size for size in (known.size_bytes, row["size_bytes"]) if size is not None]
                known.size_bytes = max(sizes, default=None)
            if pass_id is not None:
                sums = self.passes[pass_id]
                if op in ("PASS_BEGIN", "PASS_END"):
                    sums.kinds[op] = max(filter(None, (sums.kinds.get(op), row["cause"])), default=None)
                    sums.bound = row["bound"] if sums.bound is None else sums.bound
                if op == "PASS_BEGIN":
                    bounds = (sums.begin_bound, row["bound"])
                    sums.begin_island = island
                    sums.begin_bound = sums.need = max((bound for bound in bounds if bound is not None), default=None)
                elif op != "REQUEUE":
                    sums.row_kind = row["cause"]
                if op == "PASS_END":
                    sums.end_seq = row["seq"]

    def _bytes(self, row: Row, before: Row | None) -> None:
        op = row["op"]
        size = row["size_bytes"] or 0
        change = size if op == "INSERT" else -size if op in ("EVICT", "REMOVE") else 0
        unsized = row["size_bytes"] is None and op in ("INSERT", "EVICT", "REMOVE")
        whole = self.starts and self.island == 0
        if before is None and not whole:
            self.sum_bytes = row["bytes_after"]
            return
        self.sum_bytes += change
        opens = op == "SNAPSHOT" and row["cause"] == "OPEN"
        self.opened_bytes += size if opens else 0
        follows = before is not None and row["bytes_after"] == before["bytes_after"] + change
        opening = whole and (opens or (before is None and op in ("CONFIG", "SNAPSHOT")))
        counted_up = opening and row["bytes_after"] == self.opened_bytes
        if not unsized and not follows and row["bytes_after"] != self.sum_bytes and not counted_up:
            seqs = [row["seq"] if before is None else before["seq"], row["seq"]]
            self._violation("R-STATE-1", row["seq"], row["life"], self.sum_bytes, row["bytes_after"], seqs)

    def _life(self, row: Row) -> None:
        op, seq, life = row["op"], row["seq"], row["life"]
        opens = op == "SNAPSHOT" and row["cause"] == "OPEN"
        self.live += (op == "INSERT" or (opens and life is not None)) - (op in ("EVICT", "REMOVE"))
        if op == "INSERT" and life not in (None, seq):
            self._violation("R-STATE-8", seq, life, f"life {seq}", f"life {life}", [seq])
        if life is None or op == "TOMBSTONE":
            return
        known = self.lives[life]
        if op == "INSERT" or opens:
            known.begin_island = self.island
        if known.first_seq is None:
            known.first_seq = seq
            unborn = known.begin_seq is None and self.starts and not self.gapped
            early = seq < life or (known.begin_seq is not None and seq < known.begin_seq)
            if unborn or early:
                self._violation("R-STATE-8", seq, life, "an INSERT that begins this life", op, [seq])
        if known.removed_seq is not None and op != "READ_DONE":
            if self.many and op in ("HIT", "EXPECT"):
                self.undecided["R-STATE-8"].append(f"seq {seq}: {op} after removal")
            else:
                self._violation("R-STATE-8", seq, life, "no event after removal", op, [known.removed_seq, seq])
        if op in ("EVICT", "REMOVE"):
            if known.size_bytes is not None and row["size_bytes"] not in (None, known.size_bytes):
                seqs = [known.begin_seq or seq, seq]
                self._violation("R-STATE-1", seq, life, known.size_bytes, row["size_bytes"], seqs)
            if known.removed_seq is None:
                known.removed_seq = seq

    def _pass(self, row: Row) -> None:
        op, seq = row["op"], row["seq"]
        sums = self.passes[row["pass_id"]]
        sums.islands.add(self.island)
        kind = sums.kind or sums.row_kind
        bound = sums.bound if row["bound"] is None else row["bound"]
        stamp = row["stamp_ns"]
        timed = op in ("EVICT", "REQUEUE") and kind == "TIME" and stamp is not None
        young = (
            timed
            and bound is not None
            and passes.has_to_halt(passes.PassKind.TIME, bound, trigger_points.NO_ENTRY._replace(stamp_nanos=stamp))
        )
        other = kind == "TIME" and row["cause"] != "SIZE" and _differ(row["bound"], sums.begin_bound)
        if young or other:
            self._violation(
                "R-EXPIRE-1", seq, row["life"], sums.begin_bound, (row["bound"], stamp), [row["pass_id"], seq]
            )
        if sums.kind == "SIZE":
            self._left_to_free(row, sums)
        if op == "EVICT":
            sums.freed_bytes += row["size_bytes"] or 0
        if op == "PASS_END" and row["cause"] == "TIME":
            self._head(row)
        if op == "PASS_END" and sums.kind == "SIZE":
            self._amount(row, sums)
        elif op != "PASS_END":
            sums.live_at_last = self.live

    def _left_to_free(self, row: Row, sums: PassSums) -> None:
        """Check the bytes that a row of a size pass shows as left to free; with none left, a pass removes nothing."""
        sums.unsized |= row["op"] == "EVICT" and row["size_bytes"] is None
        if sums.unsized:
            return
        done = False
        if row["op"] == "EVICT":
            done = sums.need is not None and passes.has_to_halt(
                passes.PassKind.SIZE, sums.need - sums.freed_bytes, trigger_points.NO_ENTRY
            )
            done |= row["bound"] is not None and passes.has_to_halt(
                passes.PassKind.SIZE, row["bound"], trigger_points.NO_ENTRY
            )
        left = None if sums.need is None or self.island != sums.begin_island else sums.need - sums.freed_bytes
        if done or _differ(row["bound"], left):
            observed = (sums.freed_bytes, row["bound"])
            self._violation("R-EVICT-5", row["seq"], row["life"], sums.need, observed, [row["pass_id"], row["seq"]])

    def _head(self, row: Row) -> None:
        stamp, bound, seq = row["stamp_ns"], row["bound"], row["seq"]
        if stamp is not None and bound is not None:
            if not passes.has_to_halt(passes.PassKind.TIME, bound, trigger_points.NO_ENTRY._replace(stamp_nanos=stamp)):
                self._violation("R-EXPIRE-2", seq, row["life"], bound, stamp, [row["pass_id"], seq])
        elif bound is not None and row["bytes_after"] > 0:
            self.undecided["R-EXPIRE-2"].append(f"seq {seq}: the head's stamp is not known")

    def _amount(self, row: Row, sums: PassSums) -> None:
        sums.ended = True
        if len(sums.islands) > 1:
            return
        seq = row["seq"]
        if sums.need is None:
            self.undecided["R-EVICT-4"].append(f"seq {seq}: the begin of the pass is not known")
            return
        if self.starts and self.island == 0:
            slot_left = self.live > 0 and sums.live_at_last > 0
        elif row["tail_no"] is not None and row["head_no"] is not None:
            slot_left = row["tail_no"] > row["head_no"]
        else:
            slot_left = row["stamp_ns"] is not None
        if sums.freed_bytes < sums.need and slot_left:
            self._violation("R-EVICT-4", seq, None, sums.need, sums.freed_bytes, [row["pass_id"], seq])

    def _unended_passes(self) -> None:
        for pass_id, sums in self.passes.items():
            if sums.kind == "SIZE" and not sums.ended and len(sums.islands) == 1:
                self.undecided["R-EVICT-4"].append(f"pass {pass_id}: its end is not known")

    def _decision(self, row: Row) -> None:
        """Let the reference decide about the entry that the row shows, and compare the decisions."""
        op, seq, life = row["op"], row["seq"], row["life"]
        if op not in ("EVICT", "REQUEUE") or row["max_requeues"] is None or row["requeues"] is None:
            return
        settings = self.entries.config.settings._replace(
            max_requeues=row["max_requeues"], extend_recently_accessed=bool(row["extend_accessed"])
        )
        seqs = [seq if row["pass_id"] is None else row["pass_id"], seq]
        held = self.entries.entry(life)
        entry_shown = held._replace(accessed=bool(row["accessed"]), expected_reads=row["expected_reads"])
        if op == "EVICT":
            whole = life is not None and self.lives[life].begin_island == self.island
            used = min(row["requeues"], held.requeues) if whole else row["requeues"]
            action = decision.decide(entry_shown._replace(requeues=used), False, settings).action
            if action is not decision.Action.REMOVE:
                self._violation("R-REQUEUE-3", seq, life, action.name, "EVICT", seqs)
            return
        after = self.entries.after_requeue(row).requeues
        entry = entry_shown._replace(requeues=max(row["requeues"], after) - (after - held.requeues))
        action = decision.decide(entry, False, settings).action
        if row["cause"] == "ACCESSED":
            flags_shown = (row["accessed"], row["extend_accessed"])
            if action is not decision.Action.REQUEUE_ACCESSED and (None not in flags_shown or False in flags_shown):
                self._violation("R-REQUEUE-1", seq, life, action.name, "REQUEUE ACCESSED", seqs)
        if row["cause"] != "EXPECTED_READS":
            return
        lacks_reads = entry.expected_reads is not None and not decision.is_expected(entry)
        if action is decision.Action.REQUEUE_ACCESSED or lacks_reads:
            self._violation("R-REQUEUE-8", seq, life, action.name, "REQUEUE EXPECTED_READS", seqs)
        if not decision.has_spare_requeue(entry, settings):
            self._violation("R-REQUEUE-6", seq, life, settings.max_requeues, entry.requeues + 1, seqs)


def _differ(value: int | None, known: int | None) -> bool:
    return value is not None and known is not None and value != known


def _unnumbered(row: Row) -> bool:
    op = row["op"]
    if op in ("INSERT", "REQUEUE") and row["tail_no"] is None:
        return True
    return op in lookups.DEQUEUES and (row["ticket"] is None or row["head_no"] is None)
