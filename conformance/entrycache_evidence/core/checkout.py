"""Locate the files that only a source checkout holds: the folders `spec/`, `tests/` and `docs/`.

The package runs from a source checkout or from an installed wheel. `locate_checkout` tells the two apart. The texts of
the rules are in both, since a wheel carries a copy of `spec/`; `locate_spec_folder` returns the right one. Results are
compared with the committed ones (`evidence.json`, `worlds.json`, `soonest.json`) in a checkout only. The module imports
nothing heavy, because light commands need the paths too.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import entrycache_conformance
from entrycache_evidence.core import models
from entrycache_protocol import errors, files
from entrycache_protocol.files import write_text
from entrycache_protocol.schema import answer_schema, case_schema, start_schema
from entrycache_protocol.system import AnySystem

PACKAGE: Final = Path(entrycache_conformance.__file__).parent


def locate_checkout() -> Path | None:
    """Return the source checkout that this package runs from, or None in an installed wheel."""
    root = PACKAGE.parent.parent
    return root if (root / "spec" / "README.md").is_file() and (root / "tests").is_dir() else None


def locate_spec_folder() -> Path:
    """Return the folder of the rules' texts: in a checkout, or the copy in the package.

    Raises:
        UsageError: neither is there.
    """
    root = locate_checkout()
    folder = PACKAGE / "spec" if root is None else root / "spec"
    if not folder.is_dir():
        raise errors.UsageError(
            "the texts of the rules are not there: no folder `spec` in a checkout or in the package"
        )
    return folder


EVIDENCE: Final = Path(__file__).parents[1] / "evidence.json"
"""The committed evidence, which an installed package has too."""


def locate_baseline(name: str) -> Path | None:
    """Return the path of a file of committed results, or None outside of a source checkout."""
    return None if locate_checkout() is None else EVIDENCE.with_name(name)


def read_baseline(path: Path | None) -> Any:
    """Return the JSON content of a file, or None if there is no such file."""
    return None if path is None or not path.is_file() else json.loads(path.read_text(encoding="utf-8"))


def write_baseline(name: str, path: Path | None, text: str) -> None:
    """Write a file of committed results.

    Raises:
        FileNotFoundError: there is no such path, since this is not a source checkout.
    """
    if path is None:
        raise FileNotFoundError(f"{name} is written in a source checkout only")
    files.write_text(path, text)


# Comparison of the reference's descriptions of its operations with the specification.
#
# `case.schema.json`, `answer.schema.json` and `start.schema.json` of a system are part of protocol 1: keys, defaults,
# bounds, the values of each variant, the outcomes of each operation, and what a subject may declare.
# `spec/<system>/operations.json` lists each operation with its level, its rule, its frame condition and its errors,
# then the cells of the decision table. The files change only with the specification, by hand or by
# `entrycache rules --write`.


def describe_vocabulary(system: AnySystem) -> dict[str, dict[str, Any]]:
    """Describe the operations of the reference, by the name of the specification file that states them."""
    may_change, between_parts = models.find_may_change(system), models.find_may_change_between_parts(system)
    operations = {
        name: {
            "level": op.level,
            "rule": op.rule.value,
            "may_change": _aspects(may_change.get(op, {})),
            "beside": _aspects(between_parts.get(op, {})),
            "errors": sorted(set(_words(system.wire.outcome_schema(op)))),
        }
        for name, op in system.ops.items()
    }
    return {
        "case.schema.json": case_schema(system),
        "answer.schema.json": answer_schema(system),
        "start.schema.json": start_schema(system),
        "operations.json": {"operations": operations, "cells": list(system.laws.cells)},
    }


def _aspects(may_change: Mapping[Any, Any]) -> dict[str, str]:
    return {str(aspect.value): str(whose.value) for aspect, whose in may_change.items()}


def _words(schema: Any) -> Iterator[str]:
    """Yield the texts that a schema lists or demands."""
    for key, value in schema.items() if isinstance(schema, dict) else enumerate(schema):
        if key in {"enum", "const"}:
            yield from ([value] if isinstance(value, str) else [word for word in value if isinstance(word, str)])
        elif isinstance(value, dict | list):
            yield from _words(value)


def find_vocabulary_difference(system: AnySystem) -> str:
    """Describe the first difference between the reference and the specification; empty if there is none."""
    return next(
        (text for name, own in describe_vocabulary(system).items() if (text := _find_difference(system, name, own))), ""
    )


def _find_difference(system: AnySystem, name: str, own: dict[str, Any]) -> str:
    path = locate_spec_folder() / system.name / name
    if not path.is_file():
        return f"{path.parent.name}/{path.name} is missing"
    stated = dict(_leaves(json.loads(path.read_text(encoding="utf-8"))))
    own_leaves = dict(_leaves(own))
    first = next((key for key in [*stated, *own_leaves] if stated.get(key) != own_leaves.get(key)), None)
    if first is None:
        return ""
    place = "/".join(first)
    return f"{place} is {own_leaves.get(first, 'not there')} here, {stated.get(first, 'not there')} in {path.name}"


def write_spec_files(system: AnySystem) -> None:
    """Write the specification files of a system."""
    for name, own in describe_vocabulary(system).items():
        write_text(locate_spec_folder() / system.name / name, json.dumps(own, indent=1) + "\n")


def _leaves(value: Any, place: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield every scalar or empty value as JSON, with the keys that lead to it."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if not members:
        yield place, json.dumps(value)
    for key, member in members:
        yield from _leaves(member, (*place, str(key)))
