"""Write docs/reference/seeded-faults.md."""

from __future__ import annotations

from pathlib import Path

from entrycache_cli.faults.page import changed_jars, page, planted
from entrycache_protocol.leftovers import scratch

if __name__ == "__main__":
    with scratch() as folder:
        written = page(planted(folder), [caught for caught, _ in changed_jars(folder)])
    Path("docs/reference/seeded-faults.md").write_text(written, encoding="utf-8")
