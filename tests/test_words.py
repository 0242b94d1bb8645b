"""Words: the project speaks the field's language, in names, docstrings, help texts and pages.

`BANNED` lists words that we no longer use, each with the word to use instead. The test looks for them in the names that
our code defines, in its docstrings, in the command line's help texts and in the pages. Text in backticks is not
searched: it quotes names that a contract or a release fixes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, TypeAlias

import click

from entrycache_cli.main import main
from tests.support import ROOT

Nodes: TypeAlias = list[ast.AST]
FOLDERS: Final = ("reference", "conformance", "spark_checks", "tests")
PAGES: Final = ("README.md", "CONTRIBUTING.md", "docs", "spec")
LEFT_OUT: Final = ("CHANGELOG.md", "docs/campaigns", "docs/findings", "tests/support/toy/files")
"""History, results of runs, and issue texts in the words of an upstream project."""

BANNED: Final = {
    "museum": "seeded faults",
    "exhibit": "seeded fault",
    "exhibits": "seeded faults",
    "planted": "seeded",
    "sceptic": "what is verified, and what is not",
    "explorer": "explicit-state model checker",
    "twin": "negative control, or differential test",
    "twins": "negative controls, or differential tests",
    "follower": "removal check, read-count check, totals",
    "followers": "checks",
    "leavers": "removal checks",
    "tallies": "read-count checks",
    "stranger": "untrusted adapter",
    "strangers": "untrusted adapters",
    "hunt": "search",
    "hunted": "searched",
    "settle": "confirm",
    "settled": "confirmed, or a sufficient condition",
    "crowds": "stress runs",
    "storms": "stress runs",
    "touring": "demo",
    "tour": "demo",
    "fate": "setting status",
    "soonest": "first sightings",
    "unfit": "unsupported",
    "told": "reported",
    "norm": "default behaviour, the specification",
    "league": "policy comparison",
    "mask": "waiver",
    "masks": "waivers",
}
"""Words that a reader outside the project does not know, and the words that replace them."""

TEXTS_ONLY: Final = re.compile(r"\b(theme|themes|engine|kernel|in force|at rest|passed on|under way)\b", re.IGNORECASE)
"""Words of texts for: workload profile, backend, effective, quiescent, forwarded, in progress."""

NAMES_ONLY: Final = {
    "world": "bounded model",
    "worlds": "bounded models",
    "story": "audit scenario",
    "stories": "audit scenarios",
    "theme": "workload profile",
    "themes": "workload profiles",
    "kernel": "backend",
    "engine": "backend",
    "lot": "segment generation",
    "begun": "started",
    "obtained": "results",
    "spoken": "applicability",
    "moments": "trigger points",
    "odd": "unusual cases",
    "stuck": "non-terminating",
    "stretched": "stress runs",
    "effort": "cost bound",
    "ending": "exit codes",
}
"""Words that are plain in a sentence, and hide what a name holds; they are looked for in names of modules and classes,
and in names that modules and classes define."""

WHOLE_NAMES: Final = {
    *("found", "told", "asked", "heard", "met", "begun", "obtained", "made", "listed", "tried", "seen", "shown"),
    *("beside", "together", "elsewhere", "odd", "alike", "narrowed", "look", "looks", "tell", "tells", "stuck"),
    *("theme", "themes", "kernel", "engine", "lot", "lots", "walls", "meter"),
    *("reading", "readings", "picture", "effort"),
}
"""Words that are the whole name of nothing, local variables and parameters among them: a name says what a thing is."""

DEFINED_NAMES: Final = WHOLE_NAMES | {
    *("held", "kept", "gone", "given", "taken", "got", "left", "below"),
    *("ends", "rest", "whole", "cell", "cells", "large"),
}
"""Words that are the whole name of no module, and of nothing that a module defines."""

QUESTION: Final = re.compile(r"(What|Whether|How|Where|Which|Who|Whose|When|Why) ")
QUOTED: Final = re.compile(r"```.*?```|``[^`]*``|`[^`\n]*`|\]\([^)\s]*\)|<!--.*?-->", re.DOTALL)
WORD: Final = re.compile(r"[A-Za-z]+")


def words_of_name(name: str) -> set[str]:
    """Return the words of an identifier or of a file name, in small letters."""
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}


def banned_in_text(text: str) -> set[str]:
    """Return the banned words of a text; backticks and the targets of links do not count."""
    plain = QUOTED.sub(" ", text)
    return {word.lower() for word in WORD.findall(plain)} & BANNED.keys() | set(TEXTS_ONLY.findall(plain.lower()))


def python_files() -> Iterator[Path]:
    """Yield our Python files, of the tests too."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if not any(path.is_relative_to(ROOT / name) for name in LEFT_OUT) and "target" not in path.parts:
                yield path


def pages() -> Iterator[Path]:
    """Yield the pages of people: README, CONTRIBUTING, docs and spec."""
    for name in PAGES:
        for path in [ROOT / name] if name.endswith(".md") else sorted((ROOT / name).rglob("*.md")):
            if not any(path.is_relative_to(ROOT / left) for left in LEFT_OUT):
                yield path


def nodes_of(text: str) -> Nodes:
    """Return all nodes of a module's syntax tree, the module first; the tree is walked once, which takes most time."""
    return list(ast.walk(ast.parse(text)))


def names_of_body(body: list[ast.stmt]) -> Iterator[str]:
    """Yield the names that the body of a module or class defines: classes, functions, constants, fields."""
    for child in body:
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield child.name
        targets = child.targets if isinstance(child, ast.Assign) else [getattr(child, "target", None)]
        yield from (target.id for target in targets if isinstance(target, ast.Name))


def defined_names(nodes: Nodes) -> Iterator[str]:
    """Yield the names that a module, its classes and its functions define, local variables left out."""
    for node in nodes:
        if isinstance(node, ast.Module | ast.ClassDef):
            yield from names_of_body(node.body)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name


def docstrings(nodes: Nodes) -> Iterator[str]:
    """Yield the docstrings of a module, its classes, functions and constants."""
    for node in nodes:
        for child in getattr(node, "body", []) if not isinstance(node, ast.Lambda | ast.IfExp) else []:
            if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant) and type(child.value.value) is str:
                yield child.value.value


def bound_names(nodes: Nodes) -> set[str]:
    """Return the names that any code of a module binds: variables and parameters."""
    variables = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return variables | {node.arg for node in nodes if isinstance(node, ast.arg)}


def banned_names(path: Path, nodes: Nodes) -> set[str]:
    """Return the names of a file, its own among them, that are banned or hold a banned word."""
    names = {path.stem, *defined_names(nodes)}
    is_test = path.name.startswith("test_")
    banned = BANNED.keys() if is_test else BANNED.keys() | NAMES_ONLY.keys()
    module = nodes[0]
    assert isinstance(module, ast.Module)
    top_level = {path.stem, *names_of_body(module.body)}
    problems = {name for name in names if words_of_name(name) & banned}
    problems |= {name for name in top_level if name.strip("_").lower() in DEFINED_NAMES}
    return problems | {name for name in bound_names(nodes) if name.strip("_").lower() in WHOLE_NAMES}


def help_texts() -> Iterator[tuple[str, str]]:
    """Yield the help of every command and option that a user sees, by the command's name."""

    def below(command: click.Command, name: str) -> Iterator[tuple[str, str]]:
        context = click.Context(command)
        if not command.hidden:
            yield name, command.get_help(context)
        if isinstance(command, click.Group):
            for child in command.list_commands(context):
                inner = command.get_command(context, child)
                assert inner is not None
                yield from below(inner, f"{name} {child}")

    return below(main, "entrycache")


def count_problems(path: Path) -> int:
    """Count the banned words of a page, or the names and docstrings of a module that are at fault."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return len(banned_in_text(text))
    nodes = nodes_of(text)
    texts = [each for each in docstrings(nodes) if banned_in_text(each) or QUESTION.match(each)]
    return len(banned_names(path, nodes)) + len(texts)


def test_no_file_holds_banned_words() -> None:
    problems = {path.relative_to(ROOT).as_posix(): count_problems(path) for path in (*python_files(), *pages())}
    assert len(problems) > 700
    assert {name: number for name, number in problems.items() if number} == {}


def test_help_texts_hold_no_banned_word() -> None:
    texts = dict(help_texts())
    assert len(texts) > 15
    assert {name: words for name, text in texts.items() if (words := banned_in_text(text))} == {}


def test_a_banned_word_is_found_wherever_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "hunt.py"
    assert banned_names(path, nodes_of("class Told: ...")) == {"hunt", "Told"}
    assert banned_names(path, nodes_of("def f() -> None: ...\nfound_worlds = 1")) == {"hunt", "found_worlds"}
    assert banned_names(path, nodes_of("def f(told: int) -> None:\n    _look = held = 1")) == {"hunt", "told", "_look"}
    assert banned_names(tmp_path / "test_fine.py", nodes_of("def test_a_story_is_found(): ...")) == set()
    assert list(docstrings(nodes_of('"""What it is."""\nA = 1\n"""Told."""'))) == ["What it is.", "Told."]
    assert banned_in_text("A stranger, or `museum`, [twin](docs/sceptic.md).") == {"stranger", "twin"}
    assert banned_in_text("The settings In Force of an engine.") == {"in force", "engine"}
    assert QUESTION.match("Whether it is so.")
    assert not QUESTION.match("Return whether it is so.")


def glossary() -> list[str]:
    """Return the lines of the glossary that explain a term."""
    lines = (ROOT / "docs/reference/glossary.md").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line.startswith("- ")]


def test_the_glossary_is_short_and_explains_each_term_in_a_line() -> None:
    lines = glossary()
    terms = [match[1] for match in (re.match(r"- \*\*([^*]+)\*\*: \S", line) for line in lines) if match]
    assert len(terms) == len(lines) == len(set(terms))
    assert 20 < len(terms) <= 50
    assert [term for term in terms if banned_in_text(term)] == []
