"""What the rules are asked about, as replay finds it out: row by row, for any system."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from entrycache_protocol.strict_json import parse
from entrycache_spark.needs import Need, Told, notes_of, unasked

Row = dict[str, Any]


class Asked(NamedTuple):
    """How many events of a broker each rule is asked about, and what is said of those that lack something."""

    checked: Counter[str]
    never: frozenset[str]
    notes: Mapping[str, list[str]]


def counters_of(row: Mapping[str, Any]) -> dict[str, int]:
    """The counters in the value of a METRICS or END row; none where it is no JSON object."""
    try:
        told = parse(row["value"] or "")
    except ValueError:
        return {}
    shown = told.items() if isinstance(told, dict) else ()
    return {name: value for name, value in shown if type(value) is int}


def ask(
    broker: str,
    rows: Iterable[tuple[Row, Container[str], Iterable[str]]],
    needs: Mapping[str, Sequence[Need]],
) -> Asked:
    """Go through the events of a broker, and leave out those that are not told what a rule needs.

    A row stands with the settings that its CONFIG does not name, and the rules that speak about it.
    """
    checked: Counter[str] = Counter()
    told: Counter[Need] = Counter()
    lacking: Counter[Need] = Counter()
    rules_by_need: dict[Need, set[str]] = {}
    by_kind: dict[tuple[Any, ...], list[Need]] = {}
    kinds: Counter[tuple[Any, ...]] = Counter()
    for rule, own in needs.items():
        for need in own:
            rules_by_need.setdefault(need, set()).add(rule)
    for row, untold, spoken in rows:
        kind = (row["op"], row["cause"], row.get("origin"))
        kinds[kind] += 1
        if kind not in by_kind:
            by_kind[kind] = [need for need in rules_by_need if need.speaks_of(row)]
        left_out: set[str] = set()
        for need in by_kind[kind]:
            if need.is_untold(row, untold, counters_of):
                lacking[need] += 1
                left_out |= set() if need.ever else rules_by_need[need]
        for rule in spoken:
            if rule not in left_out:
                checked[rule] += 1
    for kind, times in kinds.items():
        told.update(dict.fromkeys(by_kind[kind], times))
    found = {need: Told(told[need], lacking[need]) for need in rules_by_need}
    return Asked(checked, unasked(needs, found), notes_of(broker, needs, found))
