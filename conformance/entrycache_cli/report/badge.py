"""Results as a badge: three words and a colour."""

from __future__ import annotations

import json
from typing import Any, Final

from entrycache_cli.report.results import all_lines
from entrycache_protocol import verdict
from entrycache_protocol.verdict import Verdict

MESSAGES: Final = {
    Verdict.CONFORMS: ("conforms", "brightgreen"),
    Verdict.VIOLATES: ("violates", "red"),
    Verdict.NOTHING_CHECKED: ("not all checked", "yellow"),
}
"""What a badge says, and its colour."""


def badge(results: list[dict[str, Any]]) -> str:
    """The JSON of a badge endpoint."""
    message, colour = MESSAGES[verdict.of(line.held for line in all_lines(results))]
    return json.dumps({"schemaVersion": 1, "label": "entrycache", "message": message, "color": colour}) + "\n"
