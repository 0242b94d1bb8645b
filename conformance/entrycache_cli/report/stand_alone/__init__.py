"""A case as one file of a test that starts the subject's command and speaks the protocol by itself."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined

from entrycache_conformance.systems.java_text import to_comment

TEST_TEMPLATES: Final = {"pytest": "test_case.py.j2", "go": "case_test.go.j2", "rust": "case.rs.j2"}
"""The languages of such tests; one in Java drives the released classes instead, and is made elsewhere."""


def render_test(case: Mapping[str, Any], language: str, command: str | None) -> str:
    """The text of the test, which checks every outcome and compares what `judge` compares.

    `case` holds the reference's outcomes; `command` starts the subject. Without one the test runs our own fast cache.

    All that comes from elsewhere stands in comments, or as JSON of ASCII inside a string: each of these languages reads
    a quote and a backslash as JSON writes them, and nothing else is escaped there.
    """
    own = ["entrycache", "serve", "fast", "--system", case["system"]]
    environment = Environment(
        loader=PackageLoader(__name__, "."), undefined=StrictUndefined, keep_trailing_newline=True, trim_blocks=True
    )
    return environment.get_template(TEST_TEMPLATES[language]).render(
        about=to_comment(case.get("note", "")) or "No note.",
        note=json.dumps(case.get("note", "")),
        rules=_json_literal(case.get("rules", [])),
        command=_json_literal(shlex.split(command) if command else own),
        system=_json_literal(case["system"]),
        config=_json_literal(case["config"]),
        steps=[_json_literal(step) for step in case["steps"]],
        outcomes=[_json_literal(outcome) for outcome in case["outcomes"]],
    )


def _json_literal(value: Any) -> str:
    """A value as JSON, as a string literal."""
    return json.dumps(json.dumps(value))
