"""What is exchanged for what."""

from __future__ import annotations

import ast
from typing import Final

COMPARED: Final[dict[type[ast.cmpop], tuple[str, tuple[str, ...]]]] = {
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
"""A comparison: one off, and the contrary."""

COMPUTED: Final[dict[type[ast.operator], tuple[str, tuple[str, ...]]]] = {
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
"""An operator."""

CALLED: Final = {
    "min": "max",
    "max": "min",
    "any": "all",
    "all": "any",
    "sorted": "list",
    "reversed": "list",
    "sum": "max",
    "frozenset": "tuple",
}
"""A function of Python."""

NAMED: Final = {
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
"""A name after a dot."""
