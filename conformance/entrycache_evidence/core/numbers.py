"""Find the numbers and bounds of the references, and the rule that each belongs to.

A proof or a bounded model may miss a limit at a size that it never reaches, such as "a pass looks at 512 slots at
most". So `numbers.toml` lists every number in the source of a reference but 0 and 1, and every expression that can
bound something (a slice, a minimum, a remainder, a shift, a bitwise and, the name of a constant), with its rule or with
the reason why it bounds nothing. `check_numbers` reports what the source has and the list has not, and the reverse.
"""

import ast
import importlib
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import entrycache_reference
from entrycache_evidence.core.rule_registry import Problem
from entrycache_reference.rules import Rule

REFERENCE: Final = Path(entrycache_reference.__file__).parent
LISTING: Final = Path(__file__).with_name("numbers.toml")

_PLAIN: Final = (0, 1)
"""The numbers that need no rule."""

_OPERATORS: Final = (ast.Mod, ast.FloorDiv, ast.LShift, ast.RShift, ast.BitAnd)
_BOUNDING: Final = frozenset({"min", "max", "islice", "nlargest", "nsmallest", "deque", "lru_cache"})


class SourceNumber(NamedTuple):
    """A number or a bound: its module, the function or constant that holds it, its text and its line."""

    module: str
    place: str
    text: str
    line: int


def find_numbers() -> Iterator[SourceNumber]:
    """Yield the numbers and bounds of all modules of the reference."""
    for path in sorted(REFERENCE.rglob("*.py")):
        module = ".".join(path.relative_to(REFERENCE).with_suffix("").parts)
        tree = ast.parse(path.read_text(encoding="utf-8"))
        constants = _constants(module, tree)
        for statement in tree.body:
            yield from _numbers_in(statement, module, _name_of(statement), constants)


def _name_of(statement: ast.stmt) -> str:
    """Return the name that a statement of a module defines."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return statement.name
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
        return ast.unparse(target)
    return type(statement).__name__


def _constants(module: str, tree: ast.Module) -> frozenset[str]:
    """Return the names in a module that stand for numbers, its own and those that it imports."""
    name = f"{entrycache_reference.__name__}.{module.removesuffix('.__init__')}"
    values = dict(vars(importlib.import_module(name)))
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            source = vars(importlib.import_module(node.module))
            values |= {alias.asname or alias.name: source.get(alias.name) for alias in node.names}
    return frozenset(name for name, value in values.items() if type(value) in (int, float))


def _numbers_in(statement: ast.stmt, module: str, place: str, constants: frozenset[str]) -> Iterator[SourceNumber]:
    for node in ast.walk(statement):
        if isinstance(node, ast.expr | ast.Slice) and _is_number_or_bound(node, place, constants):
            yield SourceNumber(module, place, ast.unparse(node), getattr(node, "lineno", statement.lineno))


def _is_number_or_bound(node: ast.expr | ast.Slice, place: str, constants: frozenset[str]) -> bool:
    match node:
        case ast.Constant(value=value):
            return type(value) in (int, float) and value not in _PLAIN
        case ast.BinOp(op=operator):
            return isinstance(operator, _OPERATORS)
        case ast.Slice():
            return ast.unparse(node) != ":"
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name in _BOUNDING and not (len(node.args) == 1 and name in {"min", "max"})
        case ast.Name(id=name):
            return name in constants and name != place
    return False


def check_numbers(folder: str | None = None) -> list[Problem]:
    """Return what `numbers.toml` and the source do not agree about.

    The folder of a system limits the check to that system and to what all systems share.
    """
    listing = _load_listing()
    counted: Counter[tuple[str, str, str]] = Counter()
    lines: dict[tuple[str, str, str], int] = {}
    for number in find_numbers():
        key = number[:3]
        counted[key] += 1
        lines.setdefault(key, number.line)
    problems = []
    for module, place, text in sorted(counted.keys() | listing.keys()):
        now, known = counted[module, place, text], listing.get((module, place, text), 0)
        if now != known and (folder is None or module.split(".")[0] == folder or "." not in module):
            where = f"reference/entrycache_reference/{module.replace('.', '/')}.py"
            at = f"{where}:{lines[module, place, text]}" if now else where
            what = f"`{text}` in `{place}` stands there {now} times, {known} times in {LISTING.name}"
            problems.append(Problem(at, f"{what}; a number or bound needs a rule"))
    return problems


def _load_listing() -> dict[tuple[str, str, str], int]:
    """Return the number of times that each listed text stands in its place.

    Raises:
        ValueError: an entry names no rule and gives no reason.
    """
    rules = {rule.value for rule in Rule}
    entries = {}
    for module, places in tomllib.loads(LISTING.read_text(encoding="utf-8")).items():
        for place, texts in places.items():
            for text, why in texts.items():
                times, _, reason = why.partition(" x ") if why[:1].isdigit() else ("1", "", why)
                if reason.split(",")[0] not in rules and not reason.startswith("no bound: "):
                    raise ValueError(f"{LISTING.name}: {module} {place} {text}: expected a rule or a reason")
                entries[module, place, text] = int(times)
    return entries
