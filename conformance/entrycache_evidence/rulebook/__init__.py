"""The book of rules: what each says, what is linked to it, its example, and whether text and checks agree."""

from __future__ import annotations

from entrycache_evidence.rulebook.agreement import check_rule, check_rules, write_rules
from entrycache_evidence.rulebook.page import render_rules_md
from entrycache_evidence.rulebook.problem import Problem
from entrycache_evidence.rulebook.registry import linked_rules, rule_named

__all__ = [
    "Problem",
    "check_rule",
    "check_rules",
    "linked_rules",
    "render_rules_md",
    "rule_named",
    "write_rules",
]
