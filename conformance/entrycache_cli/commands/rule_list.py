"""`entrycache conform --list`: levels with their operations, and rules with the operations that they fire in."""

from __future__ import annotations

import json
from typing import Any

from rich.table import Table
from rich.text import Text

from entrycache_cli.report.terminal import console, echo
from entrycache_conformance.levels import known_levels
from entrycache_conformance.rule_levels import rule_levels
from entrycache_conformance.systems import SYSTEMS
from entrycache_conformance.written import in_their_order
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.errors import UsageError
from entrycache_protocol.system import AnySystem, system_named


def say_list(
    declaration: Declaration | None, system: str | None, as_json: bool, asked: frozenset[str] = frozenset()
) -> int:
    """Print what can be asked of a subject, else of a system, else of all: of these rules, or of all.

    Raises:
        UsageError: there is no such system, or no such rule in it.
    """
    if declaration is not None:
        systems = [declaration.system]
    else:
        systems = list(SYSTEMS.values()) if system is None else [system_named(system, SYSTEMS)]
    told = {each.name: listed(each) for each in systems}
    if asked:
        told = _of_rules(told, asked)
    if as_json:
        echo(json.dumps({"schema": 1, "systems": told}))
        return 0
    offered = None if declaration is None else declaration.ops
    for name, levels in told.items():
        console().print(_table(name, levels, offered))
    return 0


def listed(system: AnySystem) -> dict[str, Any]:
    """Of each level its own operations, and the rules that are met there first, with the operations they fire in."""
    found = rule_levels(system)
    return {
        level: {
            "ops": [name for name in system.ops if name in (system.own_ops(level) if level in system.levels else ())],
            "rules": {
                rule: {"ops": list(found[rule].ops)}
                for rule in sorted(found, key=in_their_order)
                if found[rule].level == level
            },
        }
        for level in known_levels(system)
    }


def _of_rules(told: dict[str, dict[str, Any]], asked: frozenset[str]) -> dict[str, dict[str, Any]]:
    """These rules alone, with their levels and systems."""
    names = ", ".join(told)
    found = {}
    for name, levels in told.items():
        kept = {
            level: {**parts, "rules": {rule: met for rule, met in parts["rules"].items() if rule in asked}}
            for level, parts in levels.items()
            if asked & parts["rules"].keys()
        }
        if kept:
            found[name] = kept
    known = {rule for levels in found.values() for parts in levels.values() for rule in parts["rules"]}
    if lost := sorted(asked - known):
        raise UsageError(f"{names}: no level meets {', '.join(lost)}")
    return found


def _table(name: str, levels: dict[str, Any], offered: frozenset[str] | None) -> Table:
    table = Table(title=Text(f"{name}: a rule needs one of the operations it fires in"), title_justify="left")
    for column in ("level", "rule", "fires in"):
        table.add_column(column, overflow="fold")
    for level, told in levels.items():
        table.add_row(Text(level, "bold"), "", Text(f"offers {', '.join(told['ops'])}" if told["ops"] else "histories"))
        for rule, met in told["rules"].items():
            lacks = offered is not None and met["ops"] and not offered & set(met["ops"])
            table.add_row("", Text(rule), Text(", ".join(met["ops"]) + (" (none is offered)" if lacks else "")))
    return table
