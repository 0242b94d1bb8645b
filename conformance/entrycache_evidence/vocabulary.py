"""What a case may say, as the specification states it: keys, their defaults, their bounds, the values of each reading.

`spec/<system>/case.schema.json` is a part of protocol 1: it changes only where the protocol does, by hand or by
`entrycache rules --write`, and is what the dataclasses of the reference are held to.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from entrycache_evidence.rulebook.registry import spec_folder
from entrycache_protocol.output import write_text
from entrycache_protocol.schema import case_schema
from entrycache_protocol.system import AnySystem


def schema_file(system: AnySystem) -> Path:
    """Where the schema of its cases stands."""
    return spec_folder() / system.name / "case.schema.json"


def differs(system: AnySystem) -> str:
    """Where the reference's vocabulary first differs from the specification's; empty: nowhere."""
    path = schema_file(system)
    if not path.is_file():
        return f"{path.parent.name}/{path.name} is missing"
    stated = dict(_leaves(json.loads(path.read_text(encoding="utf-8"))))
    own = dict(_leaves(case_schema(system)))
    first = next((key for key in [*stated, *own] if stated.get(key) != own.get(key)), None)
    if first is None:
        return ""
    place = "/".join(first)
    return f"{place} is {own.get(first, 'not there')} here, {stated.get(first, 'not there')} in {path.name}"


def write(system: AnySystem) -> None:
    """Write the schema anew."""
    write_text(schema_file(system), json.dumps(case_schema(system), indent=1) + "\n")


def _leaves(value: Any, place: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Every value that is no object and no array, as JSON, and the keys that lead to it; an empty one counts too."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if not members:
        yield place, json.dumps(value)
    for key, member in members:
        yield from _leaves(member, (*place, str(key)))
