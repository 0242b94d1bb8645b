"""Write docs/reference/trace-format.md: the rows of a trace and the columns that each event needs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined

from entrycache_cli.record import record
from entrycache_conformance.subjects.resolve import Choice, resolve
from entrycache_conformance.systems import SYSTEMS
from entrycache_evidence.rulebook.registry import spec_folder
from entrycache_protocol.case import read_case
from entrycache_protocol.leftovers import scratch
from entrycache_protocol.output import write_text
from entrycache_spark.rulefiles import RuleFile, all_rules
from entrycache_spark.systems import AUDITED
from entrycache_trace.convert import to_jsonl
from entrycache_trace.files import read_jsonl
from entrycache_trace.format import ALWAYS, ANYWHERE, Format
from entrycache_trace.schema import BROKER, ROW_SCHEMA

PAGE: Final = Path("docs/reference/trace-format.md")


def page() -> str:
    """The page as Markdown."""
    environment = Environment(
        loader=PackageLoader("entrycache_cli", "."), undefined=StrictUndefined, keep_trailing_newline=True
    )
    systems = [_of(system) for system in AUDITED]
    return environment.get_template("trace_format.md.j2").render(systems=systems, anywhere=_code(ANYWHERE))


def _of(system: str) -> dict[str, object]:
    form = AUDITED[system].format
    return {
        "name": system,
        "columns": list(_columns(system, form)),
        "events": [
            (event.op, _code(event.causes), event.when, _code(event.needs), _code(event.may)) for event in form.events
        ],
        "rule": form.example,
        "example": example(system),
        "settings": list(_settings(all_rules(system))),
    }


def _columns(system: str, form: Format) -> Iterator[tuple[str, str, str, str]]:
    """Each column with its type, what it holds, and the rules that lack something without it."""
    lacking: dict[str, dict[str, list[str]]] = {}
    for rule in all_rules(system):
        for names in dict.fromkeys(need.names for need in rule.needs):
            for name in names:
                unless = " or ".join(f"`{other}`" for other in names if other != name)
                lacking.setdefault(name, {}).setdefault(unless, []).append(rule.id)
    for column in (BROKER, *ROW_SCHEMA):
        if column.name in form.means:
            lost = [
                ", ".join(rules) + (f" (unless there is {unless})" if unless else "")
                for unless, rules in sorted(lacking.get(column.name, {}).items())
            ]
            every = "every row has it" if column.name in ALWAYS else "; ".join(lost)
            yield column.name, str(column.type), form.means[column.name], every


def _settings(rules: Iterable[RuleFile]) -> Iterator[tuple[str, str]]:
    """Each setting of CONFIG that a rule asks for, with those rules."""
    asked: dict[str, list[str]] = {}
    for rule in rules:
        for name in {name for need in rule.needs for name in need.settings}:
            asked.setdefault(name, []).append(rule.id)
    for name, ids in sorted(asked.items()):
        yield name, ", ".join(ids)


def example(system: str) -> str:
    """The example of a rule as our fast cache tells it, else the reference: an object a line, without what is null."""
    rule = AUDITED[system].format.example
    case = read_case(spec_folder() / "examples" / f"{rule}.json", SYSTEMS)
    with scratch() as folder:
        subject = "reference" if SYSTEMS[system].fast is None else "fast"
        record(resolve(Choice(subject, system=system)), case, folder / "trace")
        to_jsonl(folder / "trace", folder / "trace.jsonl")
        rows = list(read_jsonl(folder / "trace.jsonl"))
    return "\n".join(json.dumps({name: value for name, value in row.items() if value is not None}) for row in rows)


def _code(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


if __name__ == "__main__":
    write_text(PAGE, page())
