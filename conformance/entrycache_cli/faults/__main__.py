"""Write docs/faults.md."""

from __future__ import annotations

import tempfile
from pathlib import Path

from entrycache_cli.faults.page import changed_jars, page, planted

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        written = page(planted(folder), [caught for caught, _ in changed_jars(folder)])
    Path("docs/faults.md").write_text(written, encoding="utf-8")
