"""Read the texts of the rules from `spec`, and collect everything that names a rule by its id.

`load_texts` parses the Markdown files of each system into `Text` records. `link_source` gives each class, proposal and
pull request that a *Source.* line names its address, by `spec/sources.toml`. `load_links` adds, by rule, the functions
of the reference, laws, tests, seeded faults, evidence and trace checks that name it. A `Problem` is a disagreement that
the check of the rules reports.
"""

import importlib.util
import inspect
import json
import pkgutil
import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import entrycache_reference
from entrycache_conformance.systems import SYSTEMS
from entrycache_evidence.core import checkout, models
from entrycache_evidence.core.marked_tests import find_marked_tests
from entrycache_faults.model import CASES_FOLDER
from entrycache_protocol.errors import UsageError
from entrycache_reference.rules import Rule


class Problem(NamedTuple):
    """A disagreement, and the rule or file that it is about."""

    rule: str
    what: str


# --- Texts and links

HEADING: Final = re.compile(
    r"^## (?P<id>[A-Z]-[A-Z]+-\d+)\n\n\*\*(?P<level>MUST|SHOULD|MAY)\*\* (?P<text>.+?)\n\n"
    r"\*Intent\.\* (?P<intent>.+?)\n\n\*Source\.\* (?P<source>.+?)\n",
    re.MULTILINE,
)


class Text(NamedTuple):
    """The text of a rule as `spec` words it."""

    id: str
    family: str
    level: str
    text: str
    intent: str
    source: str


class Links(NamedTuple):
    """Everything that names one rule."""

    functions: list[str]
    laws: list[str]
    tests: list[str]
    faults: list[str]
    mutants: list[str]
    evidence: list[str]
    trace_checks: list[str]


def load_texts() -> list[Text]:
    """Load the rules in the order of systems, of their files and of their headings."""
    texts = []
    for folder in SYSTEMS:
        for path in sorted((checkout.locate_spec_folder() / folder).glob("*.md")):
            family = str(Path(folder) / path.stem)
            for match in HEADING.finditer(path.read_text(encoding="utf-8")):
                texts.append(Text(family=family, **match.groupdict()))
    return texts


VERSIONS: Final = re.compile(r"(?P<artifact>[a-z]+-[a-z]+) (?P<versions>\d[\d., ]*\d)")
NAMED: Final = re.compile(r"`(?P<code>[A-Za-z.]+)`|(?P<kind>PR|issue) (?P<number>\d+)|(?P<proposal>[A-Z]+-\d+)")


def link_source(source: str) -> list[tuple[str, str]]:
    """Split the *Source.* line of a rule into texts, each with its address; the address of plain text is empty.

    A class that stands beside several versions leads to the last one. A method without a class belongs to the class
    before it.
    """
    return [piece for part in re.split(r"(?<=; )", source) for piece in _linked_pieces(part)]


def _linked_pieces(part: str) -> Iterator[tuple[str, str]]:
    release, owner, at = VERSIONS.search(part), "", 0
    for match in NAMED.finditer(part):
        if match["code"] and match["code"][0].isupper():
            owner = match["code"].partition(".")[0]
        address = _class_address(owner, release) if match["code"] else _reference_address(match)
        if address:
            if match.start() > at:
                yield part[at : match.start()], ""
            yield match["code"] or match[0], address
            at = match.end()
    if part[at:]:
        yield part[at:], ""


def _class_address(name: str, release: re.Match[str] | None) -> str:
    artifact = None if release is None else _source_addresses()["artifacts"].get(release["artifact"])
    if release is None or artifact is None:
        return ""
    version, folders = release["versions"].split(", ")[-1], artifact["folders"]
    folder = folders.get(f"{name} {version}", folders.get(name))
    if folder is None:
        return ""
    return str(artifact["address"]).format(version=version, file=name if folder == "." else f"{folder}/{name}")


def _reference_address(match: re.Match[str]) -> str:
    address = _source_addresses()["references"].get(match["kind"] or match["proposal"], "")
    return str(address).format(number=match["number"])


@cache
def _source_addresses() -> dict[str, Any]:
    return tomllib.loads((checkout.locate_spec_folder() / "sources.toml").read_text("utf-8"))


def load_links() -> dict[str, Links]:
    """Collect everything that names a rule, by rule."""
    links = {text.id: Links([], [], [], [], [], [], []) for text in load_texts()}

    def link(rule: str, kind: str, what: str) -> None:
        if rule not in links:
            raise UsageError(f"{what} names {rule}, which no file of `spec` has")
        getattr(links[rule], kind).append(what)

    for rule, name in find_functions():
        link(rule, "functions", name)
    for broken, holds in ((law.rule, law.holds) for system in SYSTEMS.values() for law in system.laws.table):
        link(broken.value, "laws", holds.__name__)
    for fault in models.RULE_FAULTS:
        link(fault.rule.value, "mutants", fault.note)
    for path in sorted(CASES_FOLDER.glob("*.json")):
        for rule in json.loads(path.read_text(encoding="utf-8")).get("rules", []):
            link(rule, "faults", path.stem)
    for rule, name in _marked_tests():
        link(rule, "tests", name)
    for path in sorted(_trace_checks().glob("*/*.sql"), key=lambda path: path.name):
        link(path.stem.upper().replace("_", "-"), "trace_checks", path.name)
    if checkout.EVIDENCE.is_file():
        lines = json.loads(checkout.EVIDENCE.read_text(encoding="utf-8"))["evidence"]
        for rule, grade in dict.fromkeys((line["rule"], line["grade"]) for line in lines):
            link(rule, "evidence", grade)
    return links


def _marked_tests() -> Sequence[tuple[str, str]]:
    """Return the tests that are marked with a rule; a wheel lists them, as `hatch_build.py` wrote them."""
    root, listing = checkout.locate_checkout(), checkout.EVIDENCE.with_name("tests.json")
    if root is not None:
        return find_marked_tests(root)
    return [(rule, name) for rule, name in json.loads(listing.read_text("utf-8"))] if listing.is_file() else []


def _trace_checks() -> Path:
    """Return the folder of the rules in SQL; its package is found, not imported, since it needs an extra."""
    spec = importlib.util.find_spec("entrycache_spark")
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).with_name("rules")


def find_functions() -> list[tuple[str, str]]:
    """Find each function of the reference that carries out a rule, with the rule."""
    functions = []
    prefix = entrycache_reference.__name__ + "."
    for module in pkgutil.walk_packages(entrycache_reference.__path__, prefix):
        for name, value in inspect.getmembers(importlib.import_module(module.name), inspect.isfunction):
            if value.__module__ == module.name:
                short = module.name.rsplit(".", 1)[-1]
                functions += [(rule.value, f"{short}.{name}") for rule in value.__dict__.get("rules", ())]
    return functions


def load_linked_rules(rule: str | None = None) -> list[dict[str, str | list[str]]]:
    """Load each rule, or one of them, with its text and its links.

    Raises:
        UsageError: there is no such rule.
    """
    book = load_links()
    rows: list[dict[str, str | list[str]]] = [
        {**text._asdict(), **book[text.id]._asdict()} for text in load_texts() if rule in {None, text.id}
    ]
    if not rows:
        raise _no_rule(str(rule))
    return rows


def find_rule(name: str) -> Rule:
    """Return the rule with this id.

    Raises:
        UsageError: there is no such rule.
    """
    if name not in {rule.value for rule in Rule}:
        raise _no_rule(name)
    return Rule(name)


def _no_rule(name: str) -> UsageError:
    return UsageError(f"there is no rule {name!r}; `entrycache rules` lists them all")
