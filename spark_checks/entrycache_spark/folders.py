"""Audits of trace folders: all brokers, or only those that are new or have changed.

`audit_folder` validates its arguments, lets the chosen backend evaluate the rules (`evaluate`), and builds an
`AuditResult`; `write_violations` writes `violations.parquet`.

`audit_new_brokers` audits a growing folder. It judges a broker again only if its files have changed. The findings of
each broker are a file of their own beside the results, written before the next broker is judged. The reported
violations are in `violations.parquet`, which is replaced atomically at the end. If a run is killed, the next one
therefore reports what was found but not reported, and reports nothing twice.

Each backend is imported only on use.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from entrycache_protocol import errors, files, strict_json
from entrycache_spark.common import results, rule_files
from entrycache_spark.common.system import AUDITED, audited_system
from entrycache_trace import parquet, schema
from entrycache_trace.files import Metadata, Part, broker_folder, list_brokers, list_parts, read_metadata, read_system

if TYPE_CHECKING:
    from entrycache_spark.common.rule_files import SqlBackend


SPARK_METHODS: Final = {"spark": None, "spark-checker": "fold", "spark-duckdb": "duckdb", "sql": "sql"}
"""The backends on Spark, with how they evaluate the rules: the checker or DuckDB in tasks, or Spark's SQL.

`spark` uses the checker if the tasks have numba, else DuckDB if the tasks have it and see the files, else Spark's SQL.
"""
BACKENDS: Final = (*SPARK_METHODS, "local", "replay")
MAX_LIVE_SLOTS: Final = 1_000_000
"""The number of live entries, or held slots, above which replay gives up."""

VIOLATIONS_NAME: Final = "violations.parquet"


def audit_folder(
    directory: Path,
    backend: str = "spark",
    master: str = "local[*]",
    rules: Sequence[str] = (),
    out: Path | None = None,
    *,
    max_live_slots: int = MAX_LIVE_SLOTS,
    progress: Callable[[str], None] = lambda text: None,
) -> results.AuditResult:
    """Audit a trace folder for some rules (default: all); write the violations into the folder `out` if given.

    `backend` is one of `BACKENDS`. `max_live_slots` bounds a replay.

    Raises:
        Interrupted: the audit was interrupted while an SQL backend looked for violations. It carries the result of the
            rules decided by then; nothing is written.
    """
    system = read_system(directory)
    chosen = rule_files.select_rules(tuple(rules), system if system in AUDITED else schema.DEFAULT_SYSTEM)
    parts = list_parts(directory, audited_system(system).columns)
    rows = sum(part.rows for part in parts)
    metadata = read_metadata(directory) if parts else Metadata()
    if out is not None:
        check_output_folder(directory, out)
    if backend not in BACKENDS:
        raise errors.UsageError(f"backend {backend!r} is not known; there are {', '.join(BACKENDS)}")
    if rows == 0 or metadata.system not in AUDITED:
        result = nothing_checked(chosen, metadata.system, rows)
    else:
        trace = AuditInput(directory, parts, metadata, chosen)
        try:
            with prefix_errors(str(directory)):
                findings, evaluator = evaluate(trace, backend, master, max_live_slots, progress)
        except errors.Interrupted as stopped:
            partial = build_result(stopped.partial_result, rows)
            raise errors.Interrupted(replace(partial, without_rows=brokers_without_rows(directory, parts))) from None
        result = build_result(findings, rows, evaluator)
    result = replace(result, without_rows=brokers_without_rows(directory, parts))
    if out is not None:
        try:
            write_violations(out, result.violations)
        except errors.WriteError as error:
            return replace(result, unwritten=str(error))
    return result


def brokers_without_rows(directory: Path, parts: Sequence[Part]) -> tuple[str, ...]:
    """Return the brokers whose folders hold no event."""
    with_rows = {part.broker for part in parts if part.rows}
    return tuple(broker for broker in list_brokers(directory) if broker not in with_rows)


def check_output_folder(directory: Path, out: Path) -> None:
    """Refuse to write into a trace folder."""
    if out.resolve() == directory.resolve() or directory.resolve() in out.resolve().parents:
        raise errors.UsageError(f"{out}: violations are not written into the trace")


@contextmanager
def prefix_errors(where: str) -> Iterator[None]:
    """Prefix the message of a `UsageError` with the trace."""
    try:
        yield
    except errors.UsageError as error:
        raise error if str(error).startswith(where) else errors.UsageError(f"{where}: {error}") from None


class AuditInput(NamedTuple):
    """A trace, and the rules to audit it for."""

    directory: Path
    parts: Sequence[Part]
    metadata: Metadata
    rules: Sequence[rule_files.RuleFile]


def evaluate(
    trace: AuditInput,
    backend: str,
    master: str,
    max_live_slots: int,
    progress: Callable[[str], None],
) -> tuple[results.Findings, str]:
    """Return the findings by broker, and the text that names what evaluated the rules."""
    if backend == "replay":
        return _replay(trace, max_live_slots, progress), ""
    from entrycache_spark.common.rule_files import fits_in_memory  # noqa: PLC0415

    columns = AUDITED[trace.metadata.system].columns
    if fits_in_memory(trace.parts):
        for part in trace.parts:
            parquet.check_texts(part.path, columns)
    if backend in SPARK_METHODS:
        return _on_spark(trace, master, SPARK_METHODS[backend], progress)
    from entrycache_spark.duckdb_backend import DuckDbBackend  # noqa: PLC0415

    return _by_sql(DuckDbBackend(trace.parts, columns=columns), trace, progress), ""


def _replay(trace: AuditInput, max_live_slots: int, progress: Callable[[str], None]) -> results.Findings:
    replay, needs = AUDITED[trace.metadata.system].load_replay(), {rule.id: rule.needs for rule in trace.rules}
    brokers = sorted({part.broker for part in trace.parts if part.rows})
    owned = {broker: [part for part in trace.parts if part.broker == broker] for broker in brokers}
    return {broker: replay(owned[broker], trace.metadata, needs, max_live_slots, progress) for broker in brokers}


def _on_spark(
    trace: AuditInput, master: str, spark_method: str | None, progress: Callable[[str], None]
) -> tuple[results.Findings, str]:
    """Evaluate in tasks by the checker or DuckDB; use Spark's SQL on request, or if the tasks lack something."""
    from entrycache_spark.spark_backend import (  # noqa: PLC0415
        QUICK_JVM,
        REMOTE,
        SparkSqlBackend,
        get_session,
        is_connected,
        is_local_master,
    )
    from entrycache_spark.tasks import AuditRequest, TaskPrerequisiteMissing, evaluate_in_tasks, uses_checker  # noqa: PLC0415

    progress("starting Spark")
    spark = get_session(master, QUICK_JVM if is_local_master(master) and spark_method != "sql" else {})
    why = ""
    if spark_method != "sql":
        question = AuditRequest(trace.metadata, tuple(trace.rules), spark_method)
        own = "the single-pass checker in tasks of Spark (the first run compiles it)"
        progress(own if uses_checker(question) else "DuckDB in tasks of Spark")
        try:
            return evaluate_in_tasks(spark, trace.parts, question)
        except TaskPrerequisiteMissing as error:
            if spark_method is not None:
                raise errors.MissingPrerequisite(f"{spark_method} in tasks of Spark: {error}") from None
            why = f" ({error})"
    if is_connected(spark):
        raise errors.MissingPrerequisite(f"Spark's SQL reads no folder over Spark Connect{why}; unset {REMOTE}")
    audited = AUDITED[trace.metadata.system]
    backend = SparkSqlBackend(trace.directory, trace.parts, master, audited.columns, audited.window_rows)
    return _by_sql(backend, trace, progress), f"Spark SQL{why}"


def _by_sql(backend: SqlBackend, trace: AuditInput, progress: Callable[[str], None]) -> results.Findings:
    from entrycache_spark.plan import evaluate_in_sql  # noqa: PLC0415

    try:
        return evaluate_in_sql(backend, trace.metadata, trace.rules, progress)
    finally:
        backend.close()


def nothing_checked(rules: Sequence[rule_files.RuleFile], system: str, rows: int) -> results.AuditResult:
    """Return the result for a trace with nothing to check."""
    note = "the trace has no rows" if rows == 0 else f"no trace check for system {system!r} yet"
    return results.AuditResult({rule.id: results.Verdict.NOTHING_CHECKED for rule in rules}, (), (note,), rows)


def build_result(findings: results.Findings, rows: int, evaluator: str = "") -> results.AuditResult:
    """Return the verdicts of all brokers together and of each; `rows` is the number of events read."""
    merged = results.merge_brokers(findings)
    violations = results.sort_violations(violation for finding in merged.values() for violation in finding.violations)
    notes_by_rule = [note for finding in merged.values() for note in (*finding.undecided, *finding.unchecked)]
    notes = tuple(dict.fromkeys(notes_by_rule))
    differences = tuple(line for finding in merged.values() for line in finding.differences)
    brokers = {broker: _verdicts(own) for broker, own in sorted(findings.items())}
    return results.AuditResult(
        _verdicts(merged), violations, notes, rows, differences, brokers=brokers, evaluator=evaluator
    )


def _verdicts(findings: Mapping[str, results.RuleFinding]) -> dict[str, results.Verdict]:
    return {rule: results.verdict_of(finding) for rule, finding in sorted(findings.items())}


def write_violations(out: Path, violations: Sequence[results.Violation]) -> Path:
    """Write `violations.parquet`, even if there are no violations, and return its path."""
    if out.exists() and not out.is_dir():
        raise errors.UsageError(f"{out}: not a folder")
    columns = [pa.array([row[i] for row in violations], kind.type) for i, kind in enumerate(schema.VIOLATION_SCHEMA)]
    path = out / VIOLATIONS_NAME
    if path.is_dir():
        shutil.rmtree(path)
    with files.atomic_path(path) as temporary:
        pq.write_table(pa.Table.from_arrays(columns, schema=schema.VIOLATION_SCHEMA), temporary, compression="zstd")
    return path


# ---------- audits of a growing folder

JUDGED_FOLDER: Final = "judged"
"""The folder beside the results that holds the findings of each broker."""

FINDINGS_NAME: Final = "found.json"

MAX_BATCH_ROWS: Final = 20_000_000
"""The approximate number of events judged at a time; their findings are stored before the next batch."""

MAX_STATE_BYTES: Final = 4 << 30
"""The most bytes of the stored findings of a broker: 100,000 violations of a rule take some 30 MB."""

Json = dict[str, Any]


def audit_new_brokers(
    directory: Path,
    backend: str,
    master: str,
    rules: Sequence[str],
    out: Path,
    *,
    max_live_slots: int,
    progress: Callable[[str], None] = lambda text: None,
) -> results.AuditResult:
    """Judge the brokers of a trace folder that are new, or whose files have changed since they were judged into `out`.

    The verdicts cover all brokers of the folder; the violations are only those that were not reported before.

    Raises:
        UsageError: the trace cannot be evaluated, or a file of state is not what an audit wrote.
    """
    check_output_folder(directory, out)
    metadata = read_metadata(directory)
    chosen = rule_files.select_rules(
        tuple(rules), metadata.system if metadata.system in AUDITED else schema.DEFAULT_SYSTEM
    )
    parts = list_parts(directory, audited_system(metadata.system).columns)
    without_rows = brokers_without_rows(directory, parts)
    if metadata.system not in AUDITED or not any(part.rows for part in parts):
        nothing = nothing_checked(chosen, metadata.system, sum(part.rows for part in parts))
        return replace(nothing, judged=(), without_rows=without_rows)
    question = {"version": version("entrycache"), "rules": [rule.id for rule in chosen], "metadata": asdict(metadata)}
    owned: dict[str, list[Part]] = {}
    for part in parts:
        if part.rows:
            owned.setdefault(part.broker, []).append(part)
    reported = _read_reported(out / VIOLATIONS_NAME)
    wanted = {broker: {**question, "parts": _file_states(own)} for broker, own in sorted(owned.items())}
    stored = {broker: _read_findings(out, broker, question_of) for broker, question_of in wanted.items()}
    findings: dict[str, Mapping[str, results.RuleFinding]] = {
        broker: own for broker, own in stored.items() if own is not None
    }
    unjudged = [broker for broker in wanted if broker not in findings]
    judged, evaluator = len(findings), ""
    for batch in _batch_brokers(unjudged, owned):
        progress(f"judged {judged} of {len(wanted)} brokers")
        trace = AuditInput(directory, [part for broker in batch for part in owned[broker]], metadata, chosen)
        with prefix_errors(str(directory)):
            new_findings, evaluator = evaluate(trace, backend, master, max_live_slots, progress)
        for broker, own in new_findings.items():
            _write_findings(out, broker, wanted[broker], own)
        findings.update(new_findings)
        judged += len(batch)
    result = build_result(dict(sorted(findings.items())), sum(part.rows for part in parts), evaluator)
    return replace(_add_new_violations(out, result, unjudged, reported), without_rows=without_rows)


def _batch_brokers(brokers: Sequence[str], owned: Mapping[str, Sequence[Part]]) -> Iterator[list[str]]:
    batch: list[str] = []
    rows = 0
    for broker in brokers:
        more = sum(part.rows for part in owned[broker])
        if batch and rows + more > MAX_BATCH_ROWS:
            yield batch
            batch, rows = [], 0
        batch.append(broker)
        rows += more
    if batch:
        yield batch


def _file_states(parts: Sequence[Part]) -> list[list[Any]]:
    """Return what identifies the files that were judged."""
    stats = [(part, part.path.stat()) for part in parts]
    return [[part.path.name, part.rows, stat.st_size, stat.st_mtime_ns] for part, stat in stats]


_SEQ: Final = {"type": "integer", "minimum": -(1 << 63), "maximum": (1 << 63) - 1}
_STORED_VIOLATION: Final = {
    "type": "array",
    "prefixItems": [
        _SEQ,
        strict_json.nullable_shape(_SEQ),
        strict_json.TEXT,
        strict_json.TEXT,
        strict_json.list_shape(_SEQ),
    ],
    "minItems": 5,
    "maxItems": 5,
}
STORED_SHAPE: Final = strict_json.object_shape(
    {
        "asked": {"type": "object"},
        "broker": strict_json.TEXT,
        "findings": strict_json.mapping_shape(
            strict_json.object_shape(
                {
                    "checked": strict_json.COUNT,
                    "violations": strict_json.list_shape(_STORED_VIOLATION),
                    **dict.fromkeys(("undecided", "unchecked", "differences"), strict_json.TEXTS),
                }
            )
        ),
    }
)
"""The JSON Schema of the stored findings of a broker; a violation is its seq, life, expected, observed and seqs."""


def _findings_file(out: Path, broker: str) -> Path:
    return broker_folder(out / JUDGED_FOLDER, broker) / FINDINGS_NAME


def _write_findings(out: Path, broker: str, request: Json, own: Mapping[str, results.RuleFinding]) -> None:
    findings = {
        rule: {**asdict(replace(finding, violations=())), "violations": [list(one[2:]) for one in finding.violations]}
        for rule, finding in own.items()
    }
    files.write_text(
        _findings_file(out, broker), json.dumps({"asked": request, "broker": broker, "findings": findings}) + "\n"
    )


def _read_findings(out: Path, broker: str, request: Json) -> dict[str, results.RuleFinding] | None:
    """Return the stored findings of a broker for the same question, or None if the broker must be judged."""
    path = _findings_file(out, broker)
    if not path.is_file():
        return None
    try:
        stored = strict_json.parse_json_text(files.read_text(path, "the findings", MAX_STATE_BYTES), "the text")
        strict_json.check_shape(stored, STORED_SHAPE, "the findings")
        if stored["asked"] != json.loads(json.dumps(request)) or stored["broker"] != broker:
            return None
        rules = set(request["rules"])
        if stored["findings"].keys() != rules:
            raise errors.UsageError("the findings are not those of the rules that were asked for")
    except errors.UsageError as error:
        message = f"{path}: is not what an audit wrote ({error})"
        raise errors.UsageError(f"{message}; remove it to judge the broker again") from None
    return {rule: _finding(rule, broker, finding) for rule, finding in stored["findings"].items()}


def _finding(rule: str, broker: str, kept: Json) -> results.RuleFinding:
    violations = (
        results.Violation(rule, broker, seq, life, expected, observed, tuple(seqs))
        for seq, life, expected, observed, seqs in kept["violations"]
    )
    notes = (tuple(kept[name]) for name in ("undecided", "unchecked", "differences"))
    return results.RuleFinding(kept["checked"], tuple(violations), *notes)


def _add_new_violations(
    out: Path, result: results.AuditResult, judged: Sequence[str], reported: Sequence[results.Violation]
) -> results.AuditResult:
    """Add the violations not reported yet to the reported ones, and return a result with these alone."""
    keys = {_violation_key(one) for one in reported}
    new = tuple(one for one in result.violations if _violation_key(one) not in keys)
    write_violations(out, results.sort_violations((*reported, *new)))
    return replace(result, violations=new, judged=tuple(judged))


def _violation_key(violation: results.Violation) -> tuple[str, str, int]:
    return violation.rule, violation.broker, violation.seq


def _read_reported(path: Path) -> tuple[results.Violation, ...]:
    """Return the violations that earlier runs reported.

    Raises:
        UsageError: the file is not a table of violations.
    """
    if not path.exists() or path.is_dir():
        return ()
    try:
        files.check_regular_file(path, "the reported violations")
        with parquet.report_unreadable(path):
            table = pq.ParquetFile(path).read()
            table.validate(full=True)
            rows = table.select(schema.VIOLATION_SCHEMA.names).cast(schema.VIOLATION_SCHEMA).to_pylist()
    except (errors.UsageError, KeyError, ValueError) as error:
        why = parquet.first_line(error).removeprefix(f"{path}: ")
        message = f"{path}: is not what an audit wrote ({why})"
        raise errors.UsageError(f"{message}; remove it to report all violations again") from None
    return tuple(results.Violation(**{**row, "seqs": tuple(row["seqs"] or ())}) for row in rows)
