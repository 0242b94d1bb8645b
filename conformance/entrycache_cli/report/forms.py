"""The forms that results are printed in: pure functions of the result stream, byte for byte the same for the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from entrycache_cli.report.badge import badge
from entrycache_cli.report.html import html
from entrycache_cli.report.junit import junit
from entrycache_cli.report.markdown import markdown

FORMS: Final[dict[str, Callable[[list[dict[str, Any]]], str]]] = {
    "markdown": markdown,
    "junit": junit,
    "html": html,
    "badge": badge,
}
