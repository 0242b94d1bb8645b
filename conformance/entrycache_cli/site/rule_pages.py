"""A page a rule, from what carries it out, holds it and is known to break it; and the list of these pages."""

from __future__ import annotations

import json
import os
import re
from collections import defaultdict
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from entrycache_cli.site.staged import HOSTED, LINK
from entrycache_evidence.rulebook.example import Example, examples
from entrycache_evidence.rulebook.page import example_block
from entrycache_evidence.rulebook.registry import ID, Links, Text, links, texts

FOLDER: Final = "rules"
NAMED: Final = re.compile(r"^\| Rule \|(?P<rules>.*)\|$", re.MULTILINE)
TITLE: Final = re.compile(r"^# (.+)$", re.MULTILINE)


def rule_pages(root: Path) -> dict[str, str]:
    """The pages by their names, of a checkout."""
    book, all_texts = links(), texts()
    shown = {example.rule.value: example for example in examples()}
    found, proved = _findings(root), _evidence(root)
    made = {f"{FOLDER}/index.md": _index(all_texts)}
    for text in all_texts:
        rule = text.id
        parts = (_head(text), _links(book[rule], proved[rule]), _example(shown.get(rule)), *_sql(root, rule))
        made[f"{FOLDER}/{rule}.md"] = "\n".join([*parts, _broken_by(found[rule])])
    return made


def finding_pages(root: Path) -> dict[str, str]:
    """The pages of findings, with their rules linked."""
    return {
        str(path.relative_to(root)): NAMED.sub(_with_rules, path.read_text(encoding="utf-8"))
        for path in sorted((root / "docs" / "findings").glob("*/README.md"))
    }


def _with_rules(row: re.Match[str]) -> str:
    return ID.sub(lambda rule: f"[{rule[0]}](../../../{FOLDER}/{rule[0]}.md)", row[0])


def _index(all_texts: list[Text]) -> str:
    parts = ["# Rules\n\nA page each: text, source, example, what holds it, the SQL of its audit, findings.\n"]
    for family, group in groupby(all_texts, key=lambda text: text.family):
        parts.append(f"\n## {family}\n\n| rule | text |\n|---|---|\n")
        parts += [f"| [{text.id}]({text.id}.md) | {_cell(_based(text.text, text.family))} |\n" for text in group]
    return "".join(parts)


def _head(text: Text) -> str:
    told = f"**{text.level}** {text.text}\n\n*Intent.* {text.intent}\n\n*Source.* {text.source}\n"
    place = f"[spec/{text.family}.md](../spec/{text.family}.md#{text.id.lower()})"
    return f"# {text.id}\n\n{_based(told, text.family)}\nThe text stands in {place}.\n"


def _links(found: Links, proved: list[dict[str, Any]]) -> str:
    rows = [
        ("carried out by", _codes(found.functions)),
        ("its law", _codes(found.laws)),
        ("its tests", _codes(found.tests)),
        ("[planted](../docs/reference/seeded-faults.md) in the reference", _cell("; ".join(found.mutants))),
        ("[planted](../docs/reference/seeded-faults.md) as a subject", _codes(found.faults)),
    ]
    lines = [f"| {name} | {what} |" for name, what in rows if what]
    told = ["\n## What holds it\n", "| | |", "|---|---|", *lines, "", "## Evidence\n"]
    if not proved:
        return "\n".join([*told, "None: nothing is proved or exhausted of it; its tests and its law are all.\n"])
    told += ["Said of the model, within these bounds; [the whole page](../docs/explanation/evidence.md).\n"]
    told += ["| grade | bounds | shown to fail on |", "|---|---|---|"]
    told += [f"| {one['grade']} | {_cell(one['bounds'])} | {_cell(one['refuted_mutant'] or '')} |" for one in proved]
    return "\n".join([*told, ""])


def _example(example: Example | None) -> str:
    return "" if example is None else f"\n## Example\n\n{example_block(example)}"


def _sql(root: Path, rule: str) -> list[str]:
    name = rule.lower().replace("-", "_")
    files = sorted((root / "spark_checks" / "entrycache_spark").glob(f"rules/*/{name}.sql"))
    if not files:
        return ["\n## Audit\n\nNo row of a trace can show it.\n"]
    sql = "\n".join(f"```sql\n{path.read_text(encoding='utf-8').rstrip()}\n```\n" for path in files)
    return [
        f"\n## Audit\n\nWhat `entrycache audit --rules {rule}` asks of a "
        f"[trace](../docs/how-to/audit-a-trace.md):\n\n{sql}"
    ]


def _broken_by(found: list[tuple[str, str]]) -> str:
    lines = [f"- [{title}](../docs/findings/{name}/README.md)" for name, title in found]
    return "\n".join(["\n## Findings\n", *(lines or ["None in a release that was run."]), ""])


def _findings(root: Path) -> defaultdict[str, list[tuple[str, str]]]:
    """The folder and the title of each finding, by the rules that its page names."""
    found: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    for path in sorted((root / "docs" / "findings").glob("*/README.md")):
        text = path.read_text(encoding="utf-8")
        named, title = NAMED.search(text), TITLE.search(text)
        for rule in ID.findall(named["rules"]) if named else []:
            found[rule].append((path.parent.name, title[1] if title else path.parent.name))
    return found


def _evidence(root: Path) -> defaultdict[str, list[dict[str, Any]]]:
    by_rule: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in json.loads((root / "docs" / "evidence.json").read_text(encoding="utf-8"))["evidence"]:
        by_rule[line["rule"]].append(line)
    return by_rule


def _based(text: str, family: str) -> str:
    """A text of `spec` with its links as seen from here."""
    base = Path("spec", family).parent

    def put_right(match: re.Match[str]) -> str:
        if HOSTED.match(match["to"]) and not match["to"].startswith("#"):
            return match[0]
        to = f"{Path(family).name}.md{match['to']}" if match["to"].startswith("#") else match["to"]
        return f"[{match['text']}]({os.path.relpath(base / to, FOLDER)})"

    return LINK.sub(put_right, text)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _codes(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in dict.fromkeys(names))
