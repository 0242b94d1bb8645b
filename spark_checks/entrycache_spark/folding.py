"""An audit by a system's fold: it tells what is clean, and the windows of the SQL files look at the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from itertools import islice
from typing import Any, Final, NamedTuple

import duckdb
import pyarrow as pa

from entrycache_spark.engines.local import LocalEngine
from entrycache_spark.fold import Fold, Folded, GivenUp, Kind
from entrycache_spark.needs import Need, Told, notes_of, unasked
from entrycache_spark.ordered import BATCH_ROWS, Unsorted, batches
from entrycache_spark.rulefiles import RuleFile
from entrycache_spark.survey import Broker, mark
from entrycache_spark.systems import parts_of
from entrycache_spark.tiers import Found, decide, evaluate, unproved_in
from entrycache_spark.verdict import Findings
from entrycache_trace.files import Metadata, Part

_TEXTS: Final = ("op", "cause", "origin")
_TRUTHS: Final = ("accessed", "extend_accessed", "dirty", "manual", "ranks", "named", "copies")


class Means(NamedTuple):
    """What an audit may use of its machine."""

    threads: int | None
    memory: str


def evaluate_by_fold(
    parts: Sequence[Part], metadata: Metadata, rules: Sequence[RuleFile], fold: Fold, means: Means
) -> Findings:
    """What the rows of each broker say about the rules.

    Raises:
        UsageError: the trace cannot be evaluated.
    """
    owned: dict[str, list[Part]] = {}
    for part in parts:
        if part.rows:
            owned.setdefault(part.broker, []).append(part)
    folded, others = [], []
    for name, own in sorted(owned.items()):
        try:
            folded.append((name, _fold(own, metadata, fold, means)))
        except GivenUp:
            others += own
    found: dict[str, Any] = {}
    if folded:
        found |= _told(folded, owned, metadata, rules, means)
    if others:
        found |= _by_sql(others, metadata, rules, means)
    return {name: found[name] for name in sorted(found)}


def _by_sql(parts: Sequence[Part], metadata: Metadata, rules: Sequence[RuleFile], means: Means) -> Findings:
    engine = _engine(parts, metadata, means)
    try:
        return evaluate(engine, metadata, rules)
    finally:
        engine.close()


def _engine(parts: Sequence[Part], metadata: Metadata, means: Means) -> LocalEngine:
    return LocalEngine(parts, means.threads, parts_of(metadata.system).columns, means.memory)


def _fold(parts: Sequence[Part], metadata: Metadata, fold: Fold, means: Means) -> Folded:
    """Fold a broker as its files hold it; where they do not hold it in order, DuckDB sorts it first."""
    try:
        return fold(batches(parts, parts_of(metadata.system).columns), metadata)
    except Unsorted:
        engine = _engine(parts, metadata, means._replace(threads=1))  # several hand out rows in their own order
    try:
        return fold(engine.in_order(BATCH_ROWS), metadata)
    finally:
        engine.close()


def _told(
    folded: Sequence[tuple[str, Folded]],
    owned: Mapping[str, Sequence[Part]],
    metadata: Metadata,
    rules: Sequence[RuleFile],
    means: Means,
) -> Findings:
    """What the fold has found clean, and of the rest what the windows find."""
    spoken = _spoken([kind for _, own in folded for kind in own.kinds], metadata, rules)
    shares = iter(spoken)
    brokers = [_broker(name, own, metadata, rules, list(islice(shares, len(own.kinds)))) for name, own in folded]
    left = sorted({broker.name for own in unproved_in(brokers, metadata, rules).values() for broker in own})
    clean = [broker for broker in brokers if broker.name not in left]
    found = dict(Found(rules, clean, unproved_in(clean, metadata, rules), metadata).of(rules))
    if left:
        engine = _engine([part for name in left for part in owned[name]], metadata, means)
        try:
            mark(engine, metadata)
            found |= decide(engine, [broker for broker in brokers if broker.name in left], metadata, rules)
        finally:
            engine.close()
    return found


def _broker(
    name: str, own: Folded, metadata: Metadata, rules: Sequence[RuleFile], spoken: Sequence[Set[str]]
) -> Broker:
    """What the fold tells of a broker, as the first tier in SQL does; `spoken`: the rules that speak of each kind."""
    needs = {rule.id: rule.needs for rule in rules}
    rows: Counter[Need] = Counter()
    lacking: Counter[Need] = Counter()
    checked: Counter[str] = Counter()
    each = list(dict.fromkeys(need for lines in needs.values() for need in lines))
    for kind, speaking in zip(own.kinds, spoken, strict=True):
        about = [need for need in each if need.speaks_of(kind.row)]
        lacks = {need for need in about if need.is_untold(kind.row, kind.untold, _counters)}
        rows.update(dict.fromkeys(about, kind.events))
        lacking.update(dict.fromkeys(lacks, kind.events))
        asked = [rule for rule in speaking if not any(need in lacks and not need.ever for need in needs[rule])]
        checked.update(dict.fromkeys(asked, kind.events))
    told = {need: Told(rows[need], lacking[need]) for need in each}
    never = unasked(needs, told)
    return Broker(
        name,
        own.row_count,
        own.first_seq,
        own.last_seq,
        own.starts,
        own.ended,
        metadata.sampled or own.row_count != own.last_seq - own.first_seq + 1,
        own.numbered,
        own.unlinked,
        own.open_bytes,
        own.opened,
        own.unread,
        {rule.id: 0 if rule.id in never else checked[rule.id] for rule in rules},
        {rule.id: rule.id in own.clean or rule.holds(own.grounds) for rule in rules},
        never,
        notes_of(name, needs, told),
    )


def _counters(row: Mapping[str, Any]) -> Mapping[str, int]:
    return row.get("value") or {}


def _spoken(kinds: Sequence[Kind], metadata: Metadata, rules: Sequence[RuleFile]) -> list[frozenset[str]]:
    """The rules that speak of each kind of events, as their SQL says; that text is also DuckDB's."""
    names = [name for name in kinds[0].row if name != "value"]
    table = {
        name: pa.array(
            [kind.row[name] if kind.row[name] is None or name in _TEXTS else _value(kind, name) for kind in kinds],
            pa.string() if name in _TEXTS else pa.bool_() if name in _TRUTHS else pa.int64(),
        )
        for name in names
    }
    constants = {"many": metadata.many_threads, "virtual": metadata.clock == "virtual"}
    fixed = ", ".join(f"{str(value).lower()} as {name}" for name, value in constants.items())
    with duckdb.connect() as connection:
        connection.register("told", pa.table({"number": pa.array(range(len(kinds))), **table}))
        spoken = ", ".join(f"coalesce({rule.checked}, false)" for rule in rules)
        found = connection.execute(f"select {spoken} from (select *, {fixed} from told) order by number").fetchall()
    return [frozenset(rule.id for rule, own in zip(rules, row, strict=True) if own) for row in found]


def _value(kind: Kind, name: str) -> bool | int:
    return bool(kind.row[name]) if name in _TRUTHS else int(kind.row[name])
