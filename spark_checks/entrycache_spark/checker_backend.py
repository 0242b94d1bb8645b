"""An audit by the single-pass checker of a system, with SQL windows for what the checker leaves open.

`evaluate_by_checker` feeds each broker's events to the checker in the order of seq: straight from the Parquet files if
these are in order (`ordered_batches`), else sorted by DuckDB. The checker reports which rules are clean. For the other
rules, and for brokers that the checker gives up, DuckDB runs the rule files.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import islice
from typing import Any, Final, NamedTuple

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from entrycache_spark import duckdb_backend, plan, survey
from entrycache_spark.common import results, rule_files, unknown_values
from entrycache_spark.common.system import (
    Checker,
    CheckerGaveUp,
    CheckerResult,
    EventKind,
    audited_system,
    is_foreign_event,
    ops_with_cache,
)
from entrycache_trace import parquet, schema
from entrycache_trace.files import Metadata, Part

_TEXTS: Final = ("op", "cause", "origin")
_TRUTHS: Final = ("accessed", "extend_accessed", "dirty", "manual", "ranks", "drops_late", "named", "copies")


class Resources(NamedTuple):
    """The threads and the memory that an audit may use."""

    threads: int | None
    memory: str


def evaluate_by_checker(
    parts: Sequence[Part],
    metadata: Metadata,
    rules: Sequence[rule_files.RuleFile],
    checker: Checker,
    resources: Resources,
) -> results.Findings:
    """Return the findings of each broker.

    Raises:
        UsageError: the trace cannot be evaluated.
    """
    owned: dict[str, list[Part]] = {}
    for part in parts:
        if part.rows:
            owned.setdefault(part.broker, []).append(part)
    checked, others = [], []
    for name, own in sorted(owned.items()):
        try:
            checked.append((name, _check_broker(own, metadata, checker, resources)))
        except CheckerGaveUp:
            others += own
    findings: dict[str, Any] = {}
    if checked:
        findings |= _decide_rest(checked, owned, metadata, rules, resources)
    if others:
        findings |= _by_sql(others, metadata, rules, resources)
    return {name: findings[name] for name in sorted(findings)}


def _by_sql(
    parts: Sequence[Part], metadata: Metadata, rules: Sequence[rule_files.RuleFile], resources: Resources
) -> results.Findings:
    backend = _open_duckdb(parts, metadata, resources)
    try:
        return plan.evaluate_in_sql(backend, metadata, rules)
    finally:
        backend.close()


def _open_duckdb(parts: Sequence[Part], metadata: Metadata, resources: Resources) -> duckdb_backend.DuckDbBackend:
    return duckdb_backend.DuckDbBackend(
        parts, resources.threads, audited_system(metadata.system).columns, resources.memory
    )


def _check_broker(parts: Sequence[Part], metadata: Metadata, checker: Checker, resources: Resources) -> CheckerResult:
    """Check a broker.

    Raises:
        CheckerGaveUp: see `Checker`; or the trace holds events of another system, without their cache or without a
            value that they need, which the SQL backend names.
    """
    result = _read_in_order(parts, metadata, checker, resources)
    if any(is_foreign_event(kind.row["op"], kind.row["cause"], metadata.system) for kind in result.kinds):
        raise CheckerGaveUp("the trace holds events of another system")
    named = ops_with_cache(metadata.system)
    if any(kind.row["op"] in named and kind.row["cache"] is None for kind in result.kinds):
        raise CheckerGaveUp("the trace holds events that do not name their cache")
    if any(unknown_values.is_incomplete(kind.row, metadata) for kind in result.kinds):
        raise CheckerGaveUp("the trace holds events without a value that they need")
    return result


def _read_in_order(parts: Sequence[Part], metadata: Metadata, checker: Checker, resources: Resources) -> CheckerResult:
    """Check a broker in the order of its files; let DuckDB sort the events if they are not in order."""
    try:
        return checker(ordered_batches(parts, audited_system(metadata.system).columns), metadata)
    except NotInOrder:
        backend = _open_duckdb(
            parts, metadata, resources._replace(threads=1)
        )  # several hand out rows in their own order
    try:
        return checker(backend.in_order(BATCH_ROWS), metadata)
    finally:
        backend.close()


def _decide_rest(
    checked: Sequence[tuple[str, CheckerResult]],
    owned: Mapping[str, Sequence[Part]],
    metadata: Metadata,
    rules: Sequence[rule_files.RuleFile],
    resources: Resources,
) -> results.Findings:
    """Return the findings: clean where the checker says so, else by the windows."""
    applicable = _applicable_rules([kind for _, own in checked for kind in own.kinds], metadata, rules)
    shares = iter(applicable)
    brokers = [_broker_facts(name, own, metadata, rules, list(islice(shares, len(own.kinds)))) for name, own in checked]
    left = sorted({broker.name for own in plan.unproved_brokers(brokers, metadata, rules).values() for broker in own})
    clean = [broker for broker in brokers if broker.name not in left]
    findings = dict(
        plan.WindowFindings(rules, clean, plan.unproved_brokers(clean, metadata, rules), metadata).findings_for(rules)
    )
    if left:
        backend = _open_duckdb([part for name in left for part in owned[name]], metadata, resources)
        try:
            survey.define_marked(backend, metadata)
            findings |= plan.run_windows(
                backend, [broker for broker in brokers if broker.name in left], metadata, rules
            )
        finally:
            backend.close()
    return findings


def _broker_facts(
    name: str,
    own: CheckerResult,
    metadata: Metadata,
    rules: Sequence[rule_files.RuleFile],
    applicable: Sequence[Set[str]],
) -> survey.BrokerFacts:
    """Convert a checker result to the facts that a survey in SQL would collect.

    `spoken` holds the rules that apply to each kind of events.
    """
    needs = {rule.id: rule.needs for rule in rules}
    rows: Counter[rule_files.Need] = Counter()
    lacking: Counter[rule_files.Need] = Counter()
    checked: Counter[str] = Counter()
    each = list(dict.fromkeys(need for lines in needs.values() for need in lines))
    for kind, speaking in zip(own.kinds, applicable, strict=True):
        about = [need for need in each if need.applies_to(kind.row)]
        lacks = {need for need in about if need.is_missing(kind.row, kind.untold, _counters)}
        rows.update(dict.fromkeys(about, kind.events))
        lacking.update(dict.fromkeys(lacks, kind.events))
        skipped = {need for need in lacks if not (need.ever or need.once)}
        applied = [rule for rule in speaking if skipped.isdisjoint(needs[rule])]
        checked.update(dict.fromkeys(applied, kind.events))
    counts = {need: rule_files.NeedCounts(rows[need], lacking[need]) for need in each}
    applicability = rule_files.apply_needs(name, needs, counts, checked)
    return survey.BrokerFacts(
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
        False,
        applicability.checked,
        own.clean,
        applicability.inapplicable,
        applicability.unchecked,
        applicability.inconclusive,
    )


def _counters(row: Mapping[str, Any]) -> Mapping[str, int]:
    return row.get("value") or {}


def _applicable_rules(
    kinds: Sequence[EventKind], metadata: Metadata, rules: Sequence[rule_files.RuleFile]
) -> list[frozenset[str]]:
    """Return the rules that apply to each kind of events; DuckDB evaluates the SQL of their sections `checked`."""
    names = [name for name in kinds[0].row if name != "value"]
    table = {
        name: pa.array(
            [kind.row[name] if kind.row[name] is None or name in _TEXTS else _value(kind, name) for kind in kinds],
            pa.string() if name in _TEXTS else pa.bool_() if name in _TRUTHS else pa.int64(),
        )
        for name in names
    }
    constants = {
        "many": metadata.many_threads,
        "virtual": metadata.clock == "virtual",
        **audited_system(metadata.system).constants(metadata),
    }
    fixed = ", ".join(f"{str(value).lower()} as {name}" for name, value in constants.items())
    with duckdb.connect() as connection:
        connection.register("event_kinds", pa.table({"number": pa.array(range(len(kinds))), **table}))
        conditions = ", ".join(f"coalesce({rule.checked}, false)" for rule in rules)
        answers = connection.execute(
            f"select {conditions} from (select *, {fixed} from event_kinds) order by number"
        ).fetchall()
    return [frozenset(rule.id for rule, own in zip(rules, row, strict=True) if own) for row in answers]


def _value(kind: EventKind, name: str) -> bool | int:
    return bool(kind.row[name]) if name in _TRUTHS else int(kind.row[name])


# ---------- a broker's events in order

BATCH_ROWS: Final = 131_072


class NotInOrder(Exception):
    """Raised if the files do not hold the events in the order of seq."""


def ordered_batches(parts: Sequence[Part], columns: Sequence[str], rows: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
    """Yield a broker's events in batches, as its files hold them; texts are dictionary-encoded.

    Raises:
        NotInOrder: an event comes before one with a lower seq; discard the batches so far.
        CheckerGaveUp: a file cannot be read this way.
    """
    names = [name for name in columns if name != "broker"]
    texts = [name for name in names if pa.types.is_string(schema.ROW_SCHEMA.field(name).type)]
    last = None
    try:
        for part in _in_order(parts):
            with pq.ParquetFile(part.path, read_dictionary=parquet.present_columns(part.path, texts)) as file:
                for batch in file.iter_batches(rows, columns=names, use_threads=False):
                    batch = parquet.with_added_columns(batch, names)
                    last = _check_order(batch, last)
                    _check_texts(batch, texts)
                    yield batch
    except (OSError, pa.ArrowException) as error:
        raise CheckerGaveUp(str(error)) from None


def _in_order(parts: Sequence[Part]) -> list[Part]:
    """Return the parts ordered by their first seq, which the file footers record."""
    return sorted((part for part in parts if part.rows), key=_first_seq)


def _first_seq(part: Part) -> int:
    metadata = pq.read_metadata(part.path)
    group = metadata.row_group(0)
    chunks = (group.column(at) for at in range(group.num_columns))
    statistics = next((chunk.statistics for chunk in chunks if chunk.path_in_schema == "seq"), None)
    if statistics is None or not statistics.has_min_max:
        raise CheckerGaveUp("a file footer does not record the first seq")
    return int(statistics.min)


def _check_order(batch: pa.RecordBatch, last: int | None) -> int | None:
    """Check that the events of a batch are in order, and return the last seq."""
    seqs = batch.column("seq")
    if not len(seqs):
        return last
    first: int = seqs[0].as_py()
    falls: Any = pc.any(pc.less(seqs.slice(1), seqs.slice(0, len(seqs) - 1))).as_py()
    if falls or (last is not None and first < last):
        raise NotInOrder
    return int(seqs[-1].as_py())


def _check_texts(batch: pa.RecordBatch, texts: Sequence[str]) -> None:
    """Refuse dictionaries that are too large: few bytes of a file may not become many in memory."""
    for name in texts:
        column = batch.column(name)
        held = column.dictionary if pa.types.is_dictionary(column.type) else column
        held.validate(full=True)
        if held.nbytes > parquet.MAX_BATCH_TEXT_BYTES:
            raise CheckerGaveUp(f"the texts of column {name} are too long")
