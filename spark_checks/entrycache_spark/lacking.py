"""What the rules are asked about, as the SQL engines find it out."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import NamedTuple

from entrycache_spark.engines.base import SqlEngine
from entrycache_spark.needs import Need, Told, notes_of, unasked
from entrycache_spark.rulefiles import RuleFile


class Asking(NamedTuple):
    """Of a broker whose events lack something: the events that each rule is asked about, and what is said."""

    checked: dict[str, int]
    unasked: frozenset[str]
    unchecked: Mapping[str, Sequence[str]]


def lacking(rules: Sequence[RuleFile], untold: Container[str]) -> str:
    """How many events lack what a rule needs, in one expression; `untold`: settings that some CONFIG lacks."""
    needs = dict.fromkeys(
        need for rule in rules for need in rule.needs if all(name in untold for name in need.settings)
    )
    by_op: dict[str | None, list[str]] = {}
    for need in needs:
        for event in need.events:
            by_op.setdefault(event[0], []).append(f"({need.only(event).about}) and {need.lacks}")
    arms = " ".join(f"when '{op}' then {' or '.join(f'({text})' for text in texts)}" for op, texts in by_op.items())
    return f"count_if(case op {arms} else false end)" if arms else "0"


def asked(engine: SqlEngine, rules: Sequence[RuleFile], brokers: Sequence[str]) -> dict[str, Asking]:
    """What the rules are asked about in brokers whose events lack something."""
    if not brokers:
        return {}
    needs = {rule.id: rule.needs for rule in rules}
    each = list(dict.fromkeys(need for own in needs.values() for need in own))
    counts = [f"count_if({need.about}), count_if(({need.about}) and {need.lacks})" for need in each]
    known = [f"count_if(({rule.checked}) and not coalesce({_left_out(rule)}, false))" for rule in rules]
    engine.table("suspects", {"broker": "string"}, [(broker,) for broker in brokers])
    found = engine.rows(
        f"select broker, {', '.join((*counts, *known))} from marked "
        "where broker in (select broker from suspects) group by broker"
    )
    return {broker: _asking(broker, needs, each, row) for broker, *row in found}


def _left_out(rule: RuleFile) -> str:
    return " or ".join(f"(({need.about}) and {need.lacks})" for need in rule.needs if not need.ever) or "false"


def _asking(broker: str, needs: Mapping[str, Sequence[Need]], each: Sequence[Need], row: Sequence[int]) -> Asking:
    told = {need: Told(*row[2 * at : 2 * at + 2]) for at, need in enumerate(each)}
    never = unasked(needs, told)
    checked = {**dict(zip(needs, row[2 * len(each) :], strict=True)), **dict.fromkeys(never, 0)}
    return Asking(checked, never, notes_of(broker, needs, told))
