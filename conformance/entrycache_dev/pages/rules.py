"""Render the pages of the site about rules: one for each rule, a list of them, and what operations may change.

`rule_pages` joins a rule's text, links, evidence, example, SQL and findings; `finding_pages` links the rules in pages
of findings. `render_frames` renders the frame conditions of every system.
"""

import json
import os
import re
from collections import defaultdict
from collections.abc import Mapping
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from entrycache_conformance.systems import SYSTEMS
from entrycache_dev.pages.links import EXTERNAL_LINK, LINK
from entrycache_evidence.core import checkout, models, rule_registry
from entrycache_evidence.core.marked_tests import RULE_ID
from entrycache_evidence.rulebook.examples import Example, load_examples
from entrycache_evidence.rulebook.render import render_example
from entrycache_protocol.system import AnySystem

RULES_FOLDER: Final = "rules"
RULE_ROW: Final = re.compile(r"^\| Rule \|(?P<rules>.*)\|$", re.MULTILINE)
TITLE: Final = re.compile(r"^# (.+)$", re.MULTILINE)


def rule_pages(root: Path) -> dict[str, str]:
    """Return the pages of a checkout's rules by their names."""
    book, all_texts = rule_registry.load_links(), rule_registry.load_texts()
    examples = {example.rule.value: example for example in load_examples()}
    findings, proved = _findings(root), _evidence()
    pages = {f"{RULES_FOLDER}/index.md": _index(all_texts), f"{RULES_FOLDER}/frames.md": render_frames()}
    for text in all_texts:
        rule = text.id
        parts = (
            _head(text),
            _evidence_section(book[rule], proved[rule]),
            _example_section(examples.get(rule)),
            *_sql_sections(root, rule),
        )
        pages[f"{RULES_FOLDER}/{rule}.md"] = "\n".join([*parts, _findings_section(findings[rule])])
    return pages


def finding_pages(root: Path) -> dict[str, str]:
    """Return the pages of findings with their rules as links."""
    return {
        str(path.relative_to(root)): RULE_ROW.sub(_link_rules, path.read_text(encoding="utf-8"))
        for path in sorted((root / "docs" / "findings").glob("*/README.md"))
    }


def _link_rules(row: re.Match[str]) -> str:
    return RULE_ID.sub(lambda rule: f"[{rule[0]}](../../../{RULES_FOLDER}/{rule[0]}.md)", row[0])


INDEX_HEAD: Final = """# Rules

Each rule has a page: text, source, example, what holds it, the SQL of its audit, findings. The first letter of an id
names the system: R is Pulsar 4.2 and 5.0 (PIP-430), L is Pulsar 4.0, S is the segmented cache of PIP-174, and K is
Kafka Streams. [What operations may change](frames.md) is a page of its own.
"""


def _index(all_texts: list[rule_registry.Text]) -> str:
    parts = [INDEX_HEAD]
    for family, group in groupby(all_texts, key=lambda text: text.family):
        parts.append(f"\n## {family}\n\n| rule | text |\n|---|---|\n")
        parts += [
            f"| [{text.id}]({text.id}.md) | {_table_text(_rebase_links(text.text, text.family))} |\n" for text in group
        ]
    return "".join(parts)


def _head(text: rule_registry.Text) -> str:
    parts = f"**{text.level}** {text.text}\n\n*Intent.* {text.intent}\n\n*Source.* {text.source}\n"
    place = f"[spec/{text.family}.md](../spec/{text.family}.md#{text.id.lower()})"
    return f"# {text.id}\n\n{_rebase_links(parts, text.family)}\nThe text stands in {place}.\n"


def _evidence_section(links: rule_registry.Links, proved: list[dict[str, Any]]) -> str:
    rows = [
        ("implemented by", _code_list(links.functions)),
        ("its law", _code_list(links.laws)),
        ("its tests", _code_list(links.tests)),
        ("[seeded faults](../docs/reference/seeded-faults.md) of the reference", _table_text("; ".join(links.mutants))),
        ("[seeded faults](../docs/reference/seeded-faults.md) as subjects", _code_list(links.faults)),
    ]
    lines = [f"| {name} | {what} |" for name, what in rows if what]
    parts = ["\n## Code, tests and faults\n", "| | |", "|---|---|", *lines, "", "## Evidence\n"]
    if not proved:
        return "\n".join([*parts, "None: only its tests and its law check it.\n"])
    parts += ["Evidence about the reference within these bounds; [the whole page](../docs/explanation/evidence.md).\n"]
    parts += ["| grade | bounds | refuted fault |", "|---|---|---|"]
    parts += [
        f"| {one['grade']} | {_table_text(one['bounds'])} | {_table_text(one['refuted_mutant'] or '')} |"
        for one in proved
    ]
    return "\n".join([*parts, ""])


def _example_section(example: Example | None) -> str:
    return "" if example is None else f"\n## Example\n\n{render_example(example)}"


def _sql_sections(root: Path, rule: str) -> list[str]:
    name = rule.lower().replace("-", "_")
    files = sorted((root / "spark_checks" / "entrycache_spark").glob(f"rules/*/{name}.sql"))
    if not files:
        return ["\n## Audit\n\nNo row of a trace can show a violation.\n"]
    sql = "\n".join(f"```sql\n{path.read_text(encoding='utf-8').rstrip()}\n```\n" for path in files)
    return [
        f"\n## Audit\n\nWhat `entrycache audit --rules {rule}` asks of a "
        f"[trace](../docs/how-to/audit-a-trace.md):\n\n{sql}"
    ]


def _findings_section(findings: list[tuple[str, str]]) -> str:
    lines = [f"- [{title}](../docs/findings/{name}/README.md)" for name, title in findings]
    return "\n".join(["\n## Findings\n", *(lines or ["None in a release that was run."]), ""])


def _findings(root: Path) -> defaultdict[str, list[tuple[str, str]]]:
    """Return the folder and the title of each finding, by the rules that its page names."""
    findings: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    for path in sorted((root / "docs" / "findings").glob("*/README.md")):
        text = path.read_text(encoding="utf-8")
        named, title = RULE_ROW.search(text), TITLE.search(text)
        for rule in RULE_ID.findall(named["rules"]) if named else []:
            findings[rule].append((path.parent.name, title[1] if title else path.parent.name))
    return findings


def _evidence() -> defaultdict[str, list[dict[str, Any]]]:
    by_rule: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in json.loads(checkout.EVIDENCE.read_text(encoding="utf-8"))["evidence"]:
        by_rule[line["rule"]].append(line)
    return by_rule


def _rebase_links(text: str, family: str) -> str:
    """Return a text of `spec` with its links relative to the folder of rule pages."""
    base = Path("spec", family).parent

    def put_right(match: re.Match[str]) -> str:
        if EXTERNAL_LINK.match(match["to"]) and not match["to"].startswith("#"):
            return match[0]
        to = f"{Path(family).name}.md{match['to']}" if match["to"].startswith("#") else match["to"]
        return f"[{match['text']}]({os.path.relpath(base / to, RULES_FOLDER)})"

    return LINK.sub(put_right, text)


def _table_text(text: str) -> str:
    return text.replace("|", "\\|")


def _code_list(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in dict.fromkeys(names))


FRAMES: Final = """# What operations may change

Each operation has a line in a table (`MAY_CHANGE`), and one law checks every step against it: the step changes
nothing else. A step that consists of others, such as a read of lookups and inserts, may also change what those may; its
own line lists the rest. The same holds for the steps of a listener inside a call. The first step that names a cache or
a store also opens it. An aspect without an "of" exists once in the whole state. Tests show that each declaration is
needed, and as narrow as possible.
"""


def render_frames() -> str:
    """Render the frame conditions of every system."""
    return "".join([FRAMES, *(_frames(system) for system in SYSTEMS.values())])


def _frames(system: AnySystem) -> str:
    """Render the frame conditions of a system, a line for each operation; empty if it declares none."""
    declared = models.find_may_change(system)
    rows = [f"| `{name}` | {_describe_frame(system, op)} |\n" for name, op in system.ops.items() if op in declared]
    return f"\n## {system.name}\n\n| operation | may change |\n|---|---|\n{''.join(rows)}" if rows else ""


def _describe_frame(system: AnySystem, op: type[Any]) -> str:
    """Describe the aspects of the state that an operation may change."""
    parts = [_aspects(models.find_may_change(system)[op])]
    if op in models.find_may_change_between_parts(system):
        parts.append(f"besides the pass that it triggers: {_aspects(models.find_may_change_between_parts(system)[op])}")
    return "; ".join(parts)


def _aspects(may_change: Mapping[Any, Any]) -> str:
    """Describe aspects, grouped by their extent."""
    by_whose: dict[str, list[str]] = {}
    for what, whose in may_change.items():
        by_whose.setdefault(whose.value, []).append(what.value)
    groups = ((f"of {whose}: " if whose != "all" else "", ", ".join(what)) for whose, what in by_whose.items())
    return "; ".join("".join(one) for one in groups) or "nothing"
