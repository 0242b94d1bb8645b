"""The book of rules: what each says, what is linked to it, and whether text and checks agree."""

from __future__ import annotations

from entrycache_evidence.rulebook.agreement import Problem, check_rules
from entrycache_evidence.rulebook.page import render_rules_md
from entrycache_evidence.rulebook.registry import linked_rules

__all__ = ["Problem", "check_rules", "linked_rules", "render_rules_md"]
