"""Write docs/reference/trace-format.md: the rows of a trace and the columns that each event needs.

`python -m entrycache_dev.pages.trace_format` writes it. The formats of `entrycache_trace` and the rules of
`entrycache_spark` supply the tables; an example is recorded for each system.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined

from entrycache_cli.commands.record import record
from entrycache_conformance.resolve import SubjectChoice, resolve_subject
from entrycache_conformance.systems import SYSTEMS
from entrycache_evidence.core.checkout import locate_spec_folder
from entrycache_protocol.case import read_case
from entrycache_protocol.files import scratch_folder, write_text
from entrycache_spark.common.rule_files import LAST_SNAPSHOT, VALUE_PREFIX, Need, RuleFile, all_rules
from entrycache_spark.common.system import AUDITED
from entrycache_spark.common.unknown_values import ops_of
from entrycache_trace import convert, files, schema

PAGE: Final = Path("docs/reference/trace-format.md")


def render_page() -> str:
    """Return the page in Markdown."""
    environment = Environment(
        loader=PackageLoader("entrycache_dev.pages", "."), undefined=StrictUndefined, keep_trailing_newline=True
    )
    systems = [_system_data(system) for system in AUDITED]
    return environment.get_template("trace_format.md.j2").render(
        systems=systems,
        anywhere=_code_list(schema.OPTIONAL_COLUMNS),
        added=_code_list(name for name in schema.ROW_COLUMNS if name in schema.ADDED_COLUMNS),
    )


def _system_data(system: str) -> dict[str, object]:
    form = AUDITED[system].format
    return {
        "name": system,
        "columns": list(_column_rows(system, form)),
        "events": [
            (event.op, _code_list(event.causes), event.when, _code_list(event.needs), _code_list(event.may))
            for event in form.events
        ],
        "rule": form.example,
        "example": example_rows(system),
        "settings": list(_setting_rows(all_rules(system))),
        "once": list(_once_rows(all_rules(system))),
        "counters": list(_counter_rows(all_rules(system))),
        "needed_ops": list(_op_rows(system, form)),
        "snapshots": ", ".join(rule.id for rule in all_rules(system) if any(map(_is_about_snapshots, rule.needs))),
    }


def _column_rows(system: str, form: schema.TraceFormat) -> Iterator[tuple[str, str, str, str]]:
    """Yield each column with its type, its content, and the rules that need it."""
    lacking: dict[str, dict[str, list[str]]] = {}
    for rule in all_rules(system):
        once = {need.names for need in rule.needs if need.once}
        for names in dict.fromkeys(need.names for need in rule.needs):
            for name in names if names not in once else ():
                unless = " or ".join(f"`{other}`" for other in names if other != name)
                lacking.setdefault(name, {}).setdefault(unless, []).append(rule.id)
    for column in (schema.BROKER_FIELD, *schema.ROW_SCHEMA):
        if column.name in form.means:
            lost = [
                ", ".join(rules) + (f" (unless there is {unless})" if unless else "")
                for unless, rules in sorted(lacking.get(column.name, {}).items())
            ]
            every = "every row has it" if column.name in schema.REQUIRED_COLUMNS else "; ".join(lost)
            yield column.name, str(column.type), form.means[column.name], every


def _is_about_snapshots(need: Need) -> bool:
    return need.once and LAST_SNAPSHOT in need.events


def _once_rows(rules: Iterable[RuleFile]) -> Iterator[tuple[str, str, str]]:
    """Yield each need of one event: its columns, its events, and the rules that are inconclusive without it."""
    once = dict.fromkeys(need for rule in rules for need in rule.needs if need.once)
    for need in (need for need in once if not need.clean):
        events = ", ".join(f"`{' '.join(part or '*' for part in event)}`" for event in need.events)
        yield " or ".join(need.names), events, ", ".join(rule.id for rule in rules if need in rule.needs)


def _counter_rows(rules: Iterable[RuleFile]) -> Iterator[tuple[str, str, str]]:
    """Yield each rule that is inconclusive without totals in `value`: the rule, the totals, and the ops of the rows."""
    for rule in rules:
        needs = [need for need in rule.needs if need.clean and not _is_about_snapshots(need)]
        if needs:
            ops = " or ".join(f"`{event[0]}`" for event in needs[0].events)
            yield rule.id, _code_list(name.removeprefix(VALUE_PREFIX) for need in needs for name in need.names), ops


def _op_rows(system: str, form: schema.TraceFormat) -> Iterator[tuple[str, str]]:
    """Yield each op with the rules that read its rows."""
    for op in form.by_op:
        rules = [rule.id for rule in all_rules(system) if op in ops_of(rule.id, system)]
        if rules:
            yield op, ", ".join(rules)


def _setting_rows(rules: Iterable[RuleFile]) -> Iterator[tuple[str, str]]:
    """Yield each setting of CONFIG that a rule needs, with those rules."""
    rule_ids: dict[str, list[str]] = {}
    for rule in rules:
        for name in {name for need in rule.needs for name in need.settings}:
            rule_ids.setdefault(name, []).append(rule.id)
    for name, ids in sorted(rule_ids.items()):
        yield name, ", ".join(ids)


def example_rows(system: str) -> str:
    """Return the rows of a rule's example, one JSON object a line, without columns that are null."""
    rule = AUDITED[system].format.example
    case = read_case(locate_spec_folder() / "examples" / f"{rule}.json", SYSTEMS)
    with scratch_folder() as folder:
        subject = "reference" if SYSTEMS[system].fast is None else "fast"
        record(resolve_subject(SubjectChoice(subject, system=system)), case, folder / "trace")
        convert.to_jsonl(folder / "trace", folder / "trace.jsonl")
        rows = list(files.read_jsonl(folder / "trace.jsonl"))
    return "\n".join(json.dumps({name: value for name, value in row.items() if value is not None}) for row in rows)


def _code_list(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


if __name__ == "__main__":
    write_text(PAGE, render_page())
