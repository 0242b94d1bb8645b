"""Generate all one-token changes of a module: comparisons, constants, operators, conditions, arguments, statements.

`generate_changes` walks the syntax tree of a source and yields each replacement of a token. A `Change` holds the whole
changed source, and an id that follows from its module, function, line and texts, so that it outlives moved lines.
"""

import ast
import difflib
import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple


class Edit(NamedTuple):
    """A replacement of the text between two offsets of a source."""

    start: int
    end: int
    new: str


class Change(NamedTuple):
    """One change of the reference.

    `module` is its dotted name, and `function` the qualified name around it, empty outside of functions. `kind` says
    what was changed, `old` and `new` are the texts, and `whole` is the changed source. A patch has a sentence, its
    `note`.
    """

    id: str
    module: str
    function: str
    kind: str
    line: int
    old: str
    new: str
    whole: str
    note: str = ""

    @property
    def file(self) -> str:
        """The module as a path below the package of the reference."""
        return "/".join(self.module.split(".")[1:]) + ".py"

    def diff(self, source: str) -> str:
        """Return the lines that differ."""
        lines = difflib.unified_diff(source.splitlines(), self.whole.splitlines(), lineterm="", n=0)
        return "\n".join(line for line in lines if not line.startswith(("---", "+++", "@@")))


def identity(*parts: str) -> str:
    """Return a short id for these texts."""
    return hashlib.sha256("\0".join(" ".join(part.split()) for part in parts).encode()).hexdigest()[:10]


def apply_edits(source: str, edits: list[Edit]) -> str:
    """Return the source with these edits, which do not overlap."""
    for edit in sorted(edits, reverse=True):
        source = source[: edit.start] + edit.new + source[edit.end :]
    return source


# --- Replacements

COMPARISONS: Final[dict[type[ast.cmpop], tuple[str, tuple[str, ...]]]] = {
    ast.Lt: ("<", ("<=", ">=")),
    ast.LtE: ("<=", ("<", ">")),
    ast.Gt: (">", (">=", "<=")),
    ast.GtE: (">=", (">", "<")),
    ast.Eq: ("==", ("!=",)),
    ast.NotEq: ("!=", ("==",)),
    ast.Is: ("is", ("is not",)),
    ast.IsNot: ("is not", ("is",)),
    ast.In: ("in", ("not in",)),
    ast.NotIn: ("not in", ("in",)),
}
"""Comparisons, each with one off by one and the opposite."""

OPERATORS: Final[dict[type[ast.operator], tuple[str, tuple[str, ...]]]] = {
    ast.Add: ("+", ("-",)),
    ast.Sub: ("-", ("+",)),
    ast.Mult: ("*", ("//",)),
    ast.FloorDiv: ("//", ("*",)),
    ast.Div: ("/", ("*",)),
    ast.Mod: ("%", ("//",)),
    ast.BitAnd: ("&", ("|",)),
    ast.BitOr: ("|", ("&",)),
    ast.BitXor: ("^", ("|",)),
    ast.LShift: ("<<", (">>",)),
    ast.RShift: (">>", ("<<",)),
}
"""Arithmetic and bit operators, each with its replacements."""

FUNCTIONS: Final = {
    "min": "max",
    "max": "min",
    "any": "all",
    "all": "any",
    "sorted": "list",
    "reversed": "list",
    "sum": "max",
    "frozenset": "tuple",
}
"""Functions of Python, each with its replacement."""

ATTRIBUTES: Final = {
    "append": "appendleft",
    "popleft": "pop",
    "appendleft": "append",
    "insert": "append",
    "startswith": "endswith",
    "hit_entries": "miss_entries",
    "miss_entries": "hit_entries",
    "hit_bytes": "miss_bytes",
    "miss_bytes": "hit_bytes",
    "first": "last",
    "last": "first",
    "ledger": "entry",
    "key": "value",
}
"""Names after a dot, each with its replacement."""


# --- The changes of a module

Enums = Mapping[str, Sequence[str]]
"""The enumerations that a module knows by name, and their members."""

DROPPED_STATEMENTS: Final = (ast.Expr, ast.AugAssign, ast.Continue, ast.Break, ast.Delete, ast.For)
"""Statements that are dropped, besides an `if` without `else` and a repeated assignment."""

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class ChangePlace(NamedTuple):
    """A place for a change: its kind, and the edit."""

    kind: str
    edit: Edit


def generate_changes(module: str, source: str, enums: Enums) -> list[Change]:
    """Return the changes of one module, in the order of its text."""
    return _Module(module, source, enums).changes()


class _Module:
    def __init__(self, module: str, source: str, enums: Enums) -> None:
        self.module, self.source, self.enums = module, source, enums
        self._starts = [0]
        for line in source.split("\n"):
            self._starts.append(self._starts[-1] + len(line) + 1)
        self._lines = source.split("\n")

    def changes(self) -> list[Change]:
        changes: list[Change] = []
        occurrences: Counter[tuple[str, ...]] = Counter()
        for function, (kind, edit) in _walk(ast.parse(self.source), "", self):
            whole = apply_edits(self.source, [edit])
            line = self.source.count("\n", 0, edit.start)
            last = self.source.count("\n", 0, edit.end)
            context = " ".join(" ".join(self._lines[line : last + 1]).split())
            within = self.source[self._starts[line] : edit.start].strip()
            old = self.source[edit.start : edit.end]
            parts = (self.module, function, kind, context, within, old, edit.new)
            occurrences[parts] += 1
            name = identity(*parts, str(occurrences[parts]))
            changes.append(Change(name, self.module, function, kind, line + 1, old, edit.new, whole))
        return changes

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Return the offsets of a node in the source."""
        return (
            self._offset(node.lineno, node.col_offset),  # type: ignore[attr-defined]
            self._offset(node.end_lineno, node.end_col_offset),  # type: ignore[attr-defined]
        )

    def text(self, node: ast.AST) -> str:
        start, end = self.span(node)
        return self.source[start:end]

    def _offset(self, line: int, column: int) -> int:
        """Return the offset of a position; `column` counts bytes of UTF-8."""
        return self._starts[line - 1] + len(self._lines[line - 1].encode()[:column].decode())

    def between(self, left: ast.AST, right: ast.AST, token: str) -> tuple[int, int]:
        """Return the offsets of a token between two nodes."""
        start, end = self.span(left)[1], self.span(right)[0]
        word = r"\s+".join(re.escape(part) for part in token.split())
        match = re.search(word, self.source[start:end])
        assert match is not None, (token, self.source[start:end])
        return start + match.start(), start + match.end()


def _walk(node: ast.AST, function: str, of: _Module) -> Iterator[tuple[str, ChangePlace]]:
    for child in _children(node):
        inside = function
        if isinstance(child, (*_FUNCTIONS, ast.ClassDef)):
            inside = f"{function}.{child.name}" if function else child.name
        for place in _changes(child, node, of):
            yield inside, place
        yield from _walk(child, inside, of)


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that may be changed: no decorators, types, imports, documentation or `__all__`."""
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list", "ctx", "op", "ops", "bases", "keywords_of_class"}:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not _is_left_alone(child):
                yield child


def _is_left_alone(node: ast.AST) -> bool:
    if isinstance(node, (ast.Import, ast.ImportFrom, ast.Assert)):
        return True
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True  # documentation
    if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
        return True
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        name = node.targets[0].id
        return name in {"__all__", "__slots__"} or (name.lstrip("_")[0].isupper() and _is_type(node.value))
    return False


def _is_type(value: ast.AST) -> bool:
    """Return whether a value is an alias of a type, such as `tuple[str, str | None]` or `TypeVar(..)`."""
    nodes = list(ast.walk(value))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    joined = any(isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr) for node in nodes)
    return joined or bool(names & {"Annotated", "Callable", "Mapping", "TypeVar", "NewType", "Union"})


def _changes(node: ast.AST, parent: ast.AST, of: _Module) -> Iterator[ChangePlace]:
    if isinstance(node, ast.Compare):
        yield from _compared(node, of)
    elif isinstance(node, ast.BoolOp):
        yield from _joined(node, of)
    elif isinstance(node, ast.BinOp):
        yield from _computed(node, of)
    elif isinstance(node, ast.UnaryOp):
        yield from _signed(node, of)
    elif isinstance(node, ast.Constant):
        yield from _constant(node, parent, of)
    elif isinstance(node, ast.Call):
        yield from _called(node, of)
    elif isinstance(node, ast.Attribute):
        yield from _attribute(node, of)
    elif isinstance(node, ast.comprehension):
        for test in node.ifs:
            yield from _condition(test, of)
            yield ChangePlace("condition dropped", Edit(*of.span(test), "True"))
    elif isinstance(node, ast.IfExp):
        yield from _condition(node.test, of)
        yield ChangePlace("always the first", Edit(*of.span(node), f"({of.text(node.body)})"))
        yield ChangePlace("always the second", Edit(*of.span(node), f"({of.text(node.orelse)})"))
    elif isinstance(node, (ast.Dict, ast.Set, ast.Tuple, ast.List)):
        yield from _elements(node, of)
    elif isinstance(node, ast.stmt):
        yield from _statement(node, parent, of)


def _compared(node: ast.Compare, of: _Module) -> Iterator[ChangePlace]:
    sides = [node.left, *node.comparators]
    for at, operator in enumerate(node.ops):
        old, others = COMPARISONS[type(operator)]
        place = of.between(sides[at], sides[at + 1], old)
        for new in others:
            yield ChangePlace("comparison", Edit(*place, new))


def _joined(node: ast.BoolOp, of: _Module) -> Iterator[ChangePlace]:
    old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
    for left, right in zip(node.values, node.values[1:], strict=False):
        yield ChangePlace("and, or", Edit(*of.between(left, right, old), new))
    for at in range(len(node.values)):
        rest = [of.text(value) for value in [*node.values[:at], *node.values[at + 1 :]]]
        yield ChangePlace("operand dropped", Edit(*of.span(node), "(" + f" {old} ".join(rest) + ")"))


def _computed(node: ast.BinOp, of: _Module) -> Iterator[ChangePlace]:
    if type(node.op) not in OPERATORS:
        return
    old, others = OPERATORS[type(node.op)]
    for new in others:
        yield ChangePlace("operator", Edit(*of.between(node.left, node.right, old), new))
    if isinstance(node.op, (ast.Add, ast.Sub, ast.BitOr)):
        yield ChangePlace("operand dropped", Edit(*of.span(node), f"({of.text(node.left)})"))
        yield ChangePlace("operand dropped", Edit(*of.span(node), f"({of.text(node.right)})"))


def _signed(node: ast.UnaryOp, of: _Module) -> Iterator[ChangePlace]:
    if isinstance(node.op, (ast.Not, ast.USub)):
        kind = "negated condition" if isinstance(node.op, ast.Not) else "operator"
        yield ChangePlace(kind, Edit(*of.span(node), f"({of.text(node.operand)})"))


def _constant(node: ast.Constant, parent: ast.AST, of: _Module) -> Iterator[ChangePlace]:
    if isinstance(parent, (ast.JoinedStr, ast.FormattedValue)):
        return
    span = of.span(node)
    if isinstance(node.value, bool):
        yield ChangePlace("constant", Edit(*span, str(not node.value)))
    elif isinstance(node.value, int):
        yield ChangePlace("constant", Edit(*span, str(node.value + 1)))
        if node.value > 0:
            yield ChangePlace("constant", Edit(*span, str(node.value - 1)))
    elif isinstance(node.value, float):
        yield ChangePlace("constant", Edit(*span, repr(round(node.value + 0.01, 6))))
    elif isinstance(node.value, str):
        yield ChangePlace("text", Edit(*span, repr(node.value + "~")))


def _called(node: ast.Call, of: _Module) -> Iterator[ChangePlace]:
    for left, right in zip(node.args, node.args[1:], strict=False):
        if of.text(left) != of.text(right) and not isinstance(left, ast.Starred) and not isinstance(right, ast.Starred):
            middle = of.source[of.span(left)[1] : of.span(right)[0]]
            edit = Edit(of.span(left)[0], of.span(right)[1], of.text(right) + middle + of.text(left))
            yield ChangePlace("arguments swapped", edit)
    for at, keyword in enumerate(node.keywords):
        before = [*node.args, *node.keywords[:at]]
        after = node.keywords[at + 1 :]
        if after:
            yield ChangePlace("argument dropped", Edit(of.span(keyword)[0], of.span(after[0])[0], ""))
        elif before:
            yield ChangePlace("argument dropped", Edit(max(of.span(one)[1] for one in before), of.span(keyword)[1], ""))
        else:
            yield ChangePlace("argument dropped", Edit(*of.span(keyword), ""))
    if isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS:
        yield ChangePlace("function", Edit(*of.span(node.func), FUNCTIONS[node.func.id]))


def _attribute(node: ast.Attribute, of: _Module) -> Iterator[ChangePlace]:
    end = of.span(node)[1]
    place = (end - len(node.attr), end)
    name = ast.unparse(node.value) if isinstance(node.value, ast.Name | ast.Attribute) else ""
    if name in of.enums:
        members = of.enums[name]
        if node.attr in members and len(members) > 1:
            kind = "rule named" if name == "Rule" else "member"
            yield ChangePlace(kind, Edit(*place, members[(members.index(node.attr) + 1) % len(members)]))
    elif node.attr in ATTRIBUTES:
        yield ChangePlace("name", Edit(*place, ATTRIBUTES[node.attr]))


def _condition(test: ast.expr, of: _Module) -> Iterator[ChangePlace]:
    if not (isinstance(test, ast.Compare) and len(test.ops) == 1) and not isinstance(test, ast.UnaryOp):
        yield ChangePlace("negated condition", Edit(*of.span(test), f"not ({of.text(test)})"))


def _elements(node: ast.Dict | ast.Set | ast.Tuple | ast.List, of: _Module) -> Iterator[ChangePlace]:
    if isinstance(node, ast.Dict):
        spans = []
        for key, value in zip(node.keys, node.values, strict=True):
            start = of.span(key)[0] if key is not None else of.source.rindex("**", 0, of.span(value)[0])
            spans.append((start, of.span(value)[1]))
    elif isinstance(node, ast.Set) or any(isinstance(each, ast.Starred) for each in node.elts):
        spans = [of.span(each) for each in node.elts]
    else:
        return
    if len(spans) < 2:
        return
    comma = "," if isinstance(node, ast.Tuple) and len(spans) == 2 else ""
    for at, (start, _) in enumerate(spans):
        if at + 1 < len(spans):
            kept = of.source[spans[1][0] : spans[1][1]] + comma if comma else ""
            yield ChangePlace("element dropped", Edit(start, spans[1][1] if comma else spans[at + 1][0], kept))
        else:
            yield ChangePlace("element dropped", Edit(spans[at - 1][1], spans[at][1], comma))


def _statement(node: ast.stmt, parent: ast.AST, of: _Module) -> Iterator[ChangePlace]:
    if isinstance(node, (ast.If, ast.While)):
        yield from _condition(node.test, of)
    if _is_dropped(node, parent, of):
        yield ChangePlace("statement dropped", Edit(*of.span(node), "pass"))
    if isinstance(node, ast.Break):
        yield ChangePlace("statement", Edit(*of.span(node), "continue"))
    if isinstance(node, ast.Continue):
        yield ChangePlace("statement", Edit(*of.span(node), "break"))
    if isinstance(node, ast.AugAssign) and type(node.op) in OPERATORS:
        old, others = OPERATORS[type(node.op)]
        place = of.between(node.target, node.value, f"{old}=")
        for new in (*(f"{other}=" for other in others), "="):
            yield ChangePlace("operator", Edit(*place, new))


def _is_dropped(node: ast.stmt, parent: ast.AST, of: _Module) -> bool:
    """Return whether the code runs on without this statement, so that dropping it is meaningful."""
    if isinstance(node, ast.If):
        return not node.orelse
    if isinstance(node, ast.Assign):
        return any(_is_bound_before(target, node, parent, of) for target in node.targets)
    return isinstance(node, DROPPED_STATEMENTS)


def _is_bound_before(target: ast.expr, node: ast.Assign, parent: ast.AST, of: _Module) -> bool:
    """Return whether the name has a value before this assignment."""
    if not isinstance(target, ast.Name):
        return not isinstance(target, ast.Tuple)
    if isinstance(parent, (ast.Module, ast.ClassDef)):
        return False
    before = of.source[: of.span(node)[0]].rsplit("\ndef ", 1)[-1].rsplit("    def ", 1)[-1]
    return re.search(rf"\b{target.id}\b\s*(:[^=\n]+)?=[^=]|[(,\s]{target.id}:", before) is not None
