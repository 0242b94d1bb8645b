"""An audit of a folder that grows: brokers are judged again only where their parts have changed.

What was found of each broker stands in a file of its own beside the results, written whole before the next broker is
judged. What has been told stands in `violations.parquet`, which is replaced at once at the end. So wherever a run is
killed, the next one tells what that one found and did not tell, and nothing a second time.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import pyarrow.parquet as pq

from entrycache_protocol.errors import UsageError
from entrycache_protocol.output import write_text
from entrycache_protocol.strict_json import parse
from entrycache_spark.folder import (
    VIOLATIONS_NAME,
    Trace,
    check_out,
    evaluated,
    named,
    nothing,
    result_of,
    write_violations,
)
from entrycache_spark.rulefiles import select_rules
from entrycache_spark.systems import AUDITED, parts_of
from entrycache_spark.verdict import AuditResult, RuleFinding, Violation, in_order
from entrycache_trace.files import Part, broker_folder, list_parts, read_metadata
from entrycache_trace.systems import FIRST

JUDGED: Final = "judged"
"""The folder beside the results that holds what was found of each broker."""

FOUND_NAME: Final = "found.json"

BATCH_ROWS: Final = 20_000_000
"""So many events are judged at a time, about; what was found of them is kept before the next ones."""

Json = dict[str, Any]


def audit_new(
    directory: Path,
    engine: str,
    master: str,
    rules: Sequence[str],
    out: Path,
    *,
    kernel: str | None = None,
    max_live_slots: int,
    progress: Callable[[str], None] = lambda text: None,
) -> AuditResult:
    """Judge the brokers of a trace folder that are new, or have other parts than when they were judged into `out`.

    The verdicts are those of all brokers of the folder, the violations only those that were not told before.
    """
    check_out(directory, out)
    metadata = read_metadata(directory)
    chosen = select_rules(tuple(rules), metadata.system if metadata.system in AUDITED else FIRST)
    parts = list_parts(directory, parts_of(metadata.system).columns)
    if metadata.system not in AUDITED or not any(part.rows for part in parts):
        return replace(nothing(chosen, metadata.system, sum(part.rows for part in parts)), judged=())
    question = {"version": version("entrycache"), "rules": [rule.id for rule in chosen], "metadata": asdict(metadata)}
    owned: dict[str, list[Part]] = {}
    for part in parts:
        if part.rows:
            owned.setdefault(part.broker, []).append(part)
    wanted = {broker: {**question, "parts": _state(own)} for broker, own in sorted(owned.items())}
    kept = {broker: _kept(out, broker, asked) for broker, asked in wanted.items()}
    found: dict[str, Mapping[str, RuleFinding]] = {broker: own for broker, own in kept.items() if own is not None}
    left = [broker for broker in wanted if broker not in found]
    done, by = len(found), ""
    for batch in _batches(left, owned):
        progress(f"judged {done} of {len(wanted)} brokers")
        trace = Trace(directory, [part for broker in batch for part in owned[broker]], metadata, chosen, True)
        with named(str(directory)):
            more, by = evaluated(trace, engine, master, kernel, max_live_slots, progress)
        for broker, own in more.items():
            _keep(out, broker, wanted[broker], own)
        found.update(more)
        done += len(batch)
    result = result_of(dict(sorted(found.items())), sum(part.rows for part in parts), by)
    return _tell(out, result, left)


def _batches(brokers: Sequence[str], owned: Mapping[str, Sequence[Part]]) -> Iterator[list[str]]:
    batch: list[str] = []
    rows = 0
    for broker in brokers:
        more = sum(part.rows for part in owned[broker])
        if batch and rows + more > BATCH_ROWS:
            yield batch
            batch, rows = [], 0
        batch.append(broker)
        rows += more
    if batch:
        yield batch


def _state(parts: Sequence[Part]) -> list[list[Any]]:
    """What tells whether parts are still those that were judged."""
    stats = [(part, part.path.stat()) for part in parts]
    return [[part.path.name, part.rows, stat.st_size, stat.st_mtime_ns] for part, stat in stats]


def _file(out: Path, broker: str) -> Path:
    return broker_folder(out / JUDGED, broker) / FOUND_NAME


def _keep(out: Path, broker: str, asked: Json, own: Mapping[str, RuleFinding]) -> None:
    findings = {
        rule: {**asdict(replace(finding, violations=())), "violations": [list(one[2:]) for one in finding.violations]}
        for rule, finding in own.items()
    }
    write_text(_file(out, broker), json.dumps({"asked": asked, "broker": broker, "findings": findings}) + "\n")


def _kept(out: Path, broker: str, asked: Json) -> dict[str, RuleFinding] | None:
    """What was found of this broker by the same question; None: it is to be judged."""
    path = _file(out, broker)
    if not path.is_file():
        return None
    try:
        kept = parse(path.read_text("utf-8"))
        if kept["asked"] != json.loads(json.dumps(asked)) or kept["broker"] != broker:
            return None
        return {rule: _finding(rule, broker, finding) for rule, finding in kept["findings"].items()}
    except (ValueError, KeyError, TypeError) as error:
        said = f"{path}: is not what an audit wrote ({error})"
        raise UsageError(f"{said}; remove it, and the broker is judged anew") from None


def _finding(rule: str, broker: str, kept: Json) -> RuleFinding:
    violations = (
        Violation(rule, broker, seq, life, expected, observed, tuple(seqs))
        for seq, life, expected, observed, seqs in kept["violations"]
    )
    told = (tuple(kept[name]) for name in ("undecided", "unchecked", "differences"))
    return RuleFinding(kept["checked"], tuple(violations), *told)


def _tell(out: Path, result: AuditResult, judged: Sequence[str]) -> AuditResult:
    """Add what has not been told yet to what has, and answer that alone."""
    told = _told(out / VIOLATIONS_NAME)
    places = {_place(one) for one in told}
    new = tuple(one for one in result.violations if _place(one) not in places)
    write_violations(out, in_order((*told, *new)))
    return replace(result, violations=new, judged=tuple(judged))


def _place(violation: Violation) -> tuple[str, str, int]:
    return violation.rule, violation.broker, violation.seq


def _told(path: Path) -> tuple[Violation, ...]:
    if not path.is_file():
        return ()
    rows = pq.read_table(path).to_pylist()
    return tuple(Violation(**{**row, "seqs": tuple(row["seqs"])}) for row in rows)
