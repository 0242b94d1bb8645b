"""Stage the pages of the site: the Markdown files of the checkout, and a generated page for each rule.

`python -m entrycache_dev.pages.site FOLDER` writes the pages; `make site` then builds the site. `rule_pages` joins a
rule's text, links, evidence, example, SQL and findings. `stage_pages` copies every page with the files that it links
to, and adjusts links to folders.
"""

import json
import os
import re
import shutil
from collections import defaultdict
from collections.abc import Mapping
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import click

from entrycache_evidence.core import checkout, rule_registry
from entrycache_evidence.core.marked_tests import RULE_ID
from entrycache_evidence.rulebook.examples import Example, load_examples
from entrycache_evidence.rulebook.render import render_example
from entrycache_protocol.errors import MissingPrerequisite
from entrycache_protocol.files import write_text

ROOT_PAGES: Final = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")
PAGE_FOLDERS: Final = ("docs", "spec")
LINK: Final = re.compile(r"(?P<image>!?)\[(?P<text>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<to>[^()\s]+)\)")
FENCED: Final = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
EXTERNAL_LINK: Final = re.compile(r"[a-z]+:|#")
"""A link that leaves the checkout, or leads to a place of its own page."""


def stage_pages(root: Path, out: Path, generated: Mapping[str, str]) -> None:
    """Write all pages below `out`, under the names that they have in the checkout.

    `generated` holds pages that no file holds. A linked file is copied too. A link to a folder leads to its README; if
    there is none, or if a file's name has no suffix, the link becomes plain text.
    """
    shutil.rmtree(out, ignore_errors=True)
    pages = [root / name for name in ROOT_PAGES]
    pages += [path for folder in PAGE_FOLDERS for path in sorted((root / folder).rglob("*.md"))]
    todo = {path: path.read_text(encoding="utf-8") for path in pages}
    todo |= {root / name: text for name, text in generated.items()}
    done: set[Path] = set()
    while todo:
        page, text = todo.popitem()
        done.add(page)
        linked: set[Path] = set()
        text = _rewrite_links(text, page, root, linked, frozenset(root / name for name in generated))
        write_text(_target(page, root, out), text)
        for path in sorted(linked - done - todo.keys()):
            if path.suffix == ".md":
                todo[path] = path.read_text(encoding="utf-8")
            else:
                done.add(path)
                shutil.copyfile(path, _target(path, root, out))


def _target(path: Path, root: Path, out: Path) -> Path:
    target = out / path.relative_to(root)
    target.parent.mkdir(parents=True, exist_ok=True)
    return target


def _rewrite_links(text: str, page: Path, root: Path, linked: set[Path], generated: frozenset[Path]) -> str:
    """Return the text with adjusted links to folders, and add the linked files to `linked`."""

    def put_right(match: re.Match[str]) -> str:
        if EXTERNAL_LINK.match(match["to"]):
            return match[0]
        to, mark, anchor = match["to"].partition("#")
        path = Path(os.path.normpath(page.parent / to))
        if path in generated:
            return match[0]
        if path.is_file() and not path.suffix:
            return match["text"]  # the generator takes it for a folder
        if path.is_dir():
            path /= "README.md"
            if not path.is_file():
                return match["text"]
            to = f"{to.rstrip('/')}/README.md"
        if path.is_file() and path.is_relative_to(root):
            linked.add(path)
        return f"{match['image']}[{match['text']}]({to}{mark}{anchor})"

    parts = FENCED.split(text)
    return "".join(part if at % 2 else LINK.sub(put_right, part) for at, part in enumerate(parts))


RULES_FOLDER: Final = "rules"
RULE_ROW: Final = re.compile(r"^\| Rule \|(?P<rules>.*)\|$", re.MULTILINE)
TITLE: Final = re.compile(r"^# (.+)$", re.MULTILINE)


def rule_pages(root: Path) -> dict[str, str]:
    """Return the pages of a checkout's rules by their names."""
    book, all_texts = rule_registry.load_links(), rule_registry.load_texts()
    examples = {example.rule.value: example for example in load_examples()}
    findings, proved = _findings(root), _evidence()
    pages = {f"{RULES_FOLDER}/index.md": _index(all_texts)}
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


def _index(all_texts: list[rule_registry.Text]) -> str:
    parts = ["# Rules\n\nA page each: text, source, example, what holds it, the SQL of its audit, findings.\n"]
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


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
def main(folder: Path) -> None:
    """Write the pages below FOLDER, which is emptied."""
    root = checkout.locate_checkout()
    if root is None:
        raise click.ClickException(str(MissingPrerequisite("the site needs a source checkout")))
    stage_pages(root, folder, {**rule_pages(root), **finding_pages(root)})


if __name__ == "__main__":
    main()
