"""One known failure, and the TOML file of them."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AoT

from entrycache_conformance.systems import SYSTEMS
from entrycache_protocol.case import Case, from_json, read_case
from entrycache_protocol.errors import UsageError
from entrycache_protocol.input import read_text
from entrycache_protocol.output import write_text
from entrycache_protocol.shown import shown
from entrycache_protocol.strict_json import json_of, only_json, parse

TEXTS: Final = ("rule", "system", "subject", "reason", "issue")
KEYS: Final = ("rule", "system", "subject", "versions", "case", "expected", "got", "reason", "issue")
WHAT: Final = "the known failures"
"""What the file is called in an error."""

BYTES_MOST: Final = 1 << 20
"""Of the file: a thousand entries, and about as much as a reader of TOML takes in a second."""

TABLE: Final = "known"
"""The name of the array of tables: each entry stands below `[[known]]`."""


@dataclass(frozen=True)
class Entry:
    """A failure that is known: in these versions this subject answers `got` where the rules say `expected`.

    `case` is the path of a case file, from the folder of the TOML file, or the case itself as JSON text.
    `number` counts the entries of the file from 1.
    """

    number: int
    rule: str
    system: str
    subject: str
    versions: tuple[str, ...]
    case: str
    expected: Any
    got: Any
    reason: str
    issue: str

    @property
    def label(self) -> str:
        """How reports call it."""
        return f"entry {self.number} ({self.rule}, {self.subject})"

    def read_case(self, folder: Path) -> Case:
        """The case that fails; see `entrycache_protocol.case.read_case` for its errors."""
        if not self.case.lstrip().startswith("{"):
            return read_case(folder / self.case, SYSTEMS)
        return from_json(json_of(self.case, f"{self.label}: case"), SYSTEMS)


def read_known(path: Path) -> tuple[Entry, ...]:
    """The entries of a file.

    Raises:
        UsageError: the file cannot be read, is not TOML, or an entry lacks a key or has one too many.
    """
    text = read_text(path, WHAT, BYTES_MOST)
    try:
        values = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # a number of 5,000 digits, a table 1,000 deep
        raise UsageError(f"{WHAT} {path} are not TOML: {error}") from None
    unknown = sorted(values.keys() - {TABLE})
    if unknown:
        raise UsageError(f"{path}: unknown key {shown(unknown[0])}; each entry stands below [[{TABLE}]]")
    tables = values.get(TABLE, [])
    if type(tables) is not list or any(type(table) is not dict for table in tables):
        raise UsageError(f"{path}: {TABLE} is no array of tables; each entry stands below [[{TABLE}]]")
    return tuple(_entry(table, number, path) for number, table in enumerate(tables, 1))


def _entry(table: dict[str, Any], number: int, path: Path) -> Entry:
    where = f"{path}: entry {number}"
    for name in KEYS:
        if name not in table:
            raise UsageError(f"{where} has no {name!r}; expected {', '.join(KEYS)}")
    unknown = sorted(table.keys() - set(KEYS))
    if unknown:
        raise UsageError(f"{where} has an unknown key {shown(unknown[0])}; expected {', '.join(KEYS)}")
    for name in TEXTS:
        if type(table[name]) is not str:
            raise UsageError(f"{where}: {name} is {shown(table[name])}; expected a string")
    versions = table["versions"]
    if type(versions) is not list or not versions or any(type(version) is not str for version in versions):
        raise UsageError(f"{where}: versions is {shown(versions)}; expected an array of strings")
    case = table["case"] if type(table["case"]) is str else json.dumps(only_json(table["case"], f"{where}: case"))
    expected, got = (_value(table[name], f"{where}: {name}") for name in ("expected", "got"))
    texts = {name: table[name] for name in TEXTS}
    return Entry(number=number, versions=tuple(versions), case=case, expected=expected, got=got, **texts)


def _value(value: Any, where: str) -> Any:
    """An outcome: an object, in TOML or, since TOML has no null, as JSON text."""
    if type(value) is str:
        try:
            return parse(value)
        except ValueError as error:
            what = "expected an outcome, as JSON text or as a table"
            raise UsageError(f"{where} is {shown(value)}; {what} ({error})") from None
    return only_json(value, where)


def write_known(path: Path, kept: list[tuple[int | None, Entry]]) -> None:
    """Rewrite a file: each entry stands with the number that it had, None for a new one.

    What did not change stays as it was, to the byte, comments included; the same entries give the same bytes.
    """
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    try:
        document = tomlkit.parse(text)
    except TOMLKitError as error:  # it has rules of its own, beside those of the reader above
        raise UsageError(f"{WHAT} {path} cannot be rewritten: {error}") from None
    tables = document.get(TABLE)
    if not isinstance(tables, AoT):
        tables = tomlkit.aot()
        kept = [(None, entry) for _, entry in kept]
    old = {number: entry for number, entry in kept if number is not None}
    for number in range(len(tables), 0, -1):
        if number in old:
            _correct(tables[number - 1], old[number], _entry(tables[number - 1].unwrap(), number, path))
        else:
            del tables[number - 1]
    for entry in (entry for number, entry in kept if number is None):
        tables.append(_table(entry))
    if kept:
        document[TABLE] = tables
    elif TABLE in document:
        del document[TABLE]
    written = tomlkit.dumps(document)
    if written != text:
        write_text(path, written)


def _correct(table: tomlkit.items.Table, entry: Entry, old: Entry) -> None:
    for name in ("rule", "expected", "got"):
        if getattr(entry, name) != getattr(old, name):
            table[name] = _items(entry)[name]


def _items(entry: Entry) -> dict[str, Any]:
    literal = {
        name: tomlkit.string(json.dumps(getattr(entry, name)), literal="'" not in json.dumps(getattr(entry, name)))
        for name in ("expected", "got")
    }
    return {**{name: getattr(entry, name) for name in TEXTS}, **literal}


def _table(entry: Entry) -> tomlkit.items.Table:
    items = _items(entry)
    table = tomlkit.table()
    for name in KEYS:
        if name == "versions":
            table.add(name, list(entry.versions))
        elif name == "case":
            inline = entry.case.lstrip().startswith("{") and "'''" not in entry.case
            table.add(name, tomlkit.string(entry.case, literal=True, multiline=True) if inline else entry.case)
        else:
            table.add(name, items[name])
    table.add(tomlkit.nl())
    return table
