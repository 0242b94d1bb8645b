"""A small change of one module of the reference, and its identity, which outlives moved lines."""

from __future__ import annotations

import difflib
import hashlib
from typing import NamedTuple


class Edit(NamedTuple):
    """Replace the text between two offsets of a module's source."""

    start: int
    end: int
    new: str


class Change(NamedTuple):
    """One change.

    `module` is its dotted name, `function` the qualified name that it stands in, empty outside of functions; `kind`
    says what was changed, `old` and `new` are the texts, `number` tells apart what is otherwise alike. `whole` is the
    changed source. A patch has a sentence, its `note`.
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
        """The change as the lines that differ."""
        lines = difflib.unified_diff(source.splitlines(), self.whole.splitlines(), lineterm="", n=0)
        return "\n".join(line for line in lines if not line.startswith(("---", "+++", "@@")))


def identity(*parts: str) -> str:
    """A short name for these texts."""
    return hashlib.sha256("\0".join(" ".join(part.split()) for part in parts).encode()).hexdigest()[:10]


def applied(source: str, edits: list[Edit]) -> str:
    """The source with these edits, which do not overlap."""
    for edit in sorted(edits, reverse=True):
        source = source[: edit.start] + edit.new + source[edit.end :]
    return source
