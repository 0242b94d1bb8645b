"""The book of rules: what each says, what is linked to it, its example, and whether text and checks agree."""

from __future__ import annotations

from entrycache_evidence.core.rule_registry import Problem, find_rule, load_linked_rules
from entrycache_evidence.rulebook.agreement import check_rule, check_rules, write_rules
from entrycache_evidence.rulebook.render import render_rules_md

__all__ = [
    "Problem",
    "check_rule",
    "check_rules",
    "load_linked_rules",
    "render_rules_md",
    "find_rule",
    "write_rules",
]
