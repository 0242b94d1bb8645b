"""The rule files: one SQL text a rule, written for Spark, in sections.

`checked` says which rows the rule speaks about. `witness` is a number a row; a broker conforms where its sum
equals `balance` (default 0). `window` is a query over `events` and `brokers` that returns the violations; it
decides wherever the witnesses do not prove the rule. `token(a, b)` is a 32-bit hash.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from entrycache_reference.errors import UsageError

_HEADING: Final = re.compile(r"^-- (checked|witness|balance|window)\b[^\n]*\n", re.MULTILINE)


@dataclass(frozen=True)
class RuleFile:
    """One rule as SQL."""

    id: str
    checked: str
    witness: str | None
    balance: str
    window: str

    @property
    def column(self) -> str:
        """The id as part of a column name."""
        return self.id.lower().replace("-", "_")


def parse_rule(rule_id: str, text: str) -> RuleFile:
    """The sections of a rule file."""
    pieces = _HEADING.split(text)
    sections = {name: body.strip() for name, body in zip(pieces[1::2], pieces[2::2], strict=True)}
    return RuleFile(
        rule_id,
        sections["checked"],
        sections.get("witness"),
        sections.get("balance", "0"),
        sections["window"],
    )


@cache
def all_rules() -> tuple[RuleFile, ...]:
    """Every rule that traces are checked for, by id."""
    folder = files("entrycache_spark") / "rules"
    found = [item for item in folder.iterdir() if item.name.endswith(".sql")]
    rules = [
        parse_rule(item.name.removesuffix(".sql").upper().replace("_", "-"), item.read_text(encoding="utf-8"))
        for item in found
    ]
    return tuple(sorted(rules, key=lambda rule: rule.id))


def select_rules(ids: tuple[str, ...]) -> tuple[RuleFile, ...]:
    """The rules of these ids (none: all)."""
    known = {rule.id: rule for rule in all_rules()}
    for rule_id in ids:
        if rule_id.upper() not in known:
            raise UsageError(f"{rule_id}: no trace check of that id; there are {', '.join(known)}")
    wanted = {rule_id.upper() for rule_id in ids} or set(known)
    return tuple(rule for rule in all_rules() if rule.id in wanted)
