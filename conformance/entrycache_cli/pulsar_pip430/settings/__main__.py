"""Write docs/reference/settings.md."""

from __future__ import annotations

from pathlib import Path

from entrycache_cli.pulsar_pip430.settings.page import page

if __name__ == "__main__":
    Path("docs/reference/settings.md").write_text(page(), encoding="utf-8")
