"""Java tests for a release in which a class stands in another package: their imports are changed, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from entrycache_conformance.java.driver import JavaTestClasspath

MOVED: Final[Mapping[str, Mapping[str, str]]] = {
    "kafka-streams-4.4.0.jar": {
        "org.apache.kafka.common.utils.LogContext": "org.apache.kafka.common.utils.internals.LogContext",
    },
}
"""The classes that moved, by the jar of the release."""
_TESTED: Final = re.compile(r"kafka-streams-\d+\.\d+\.\d+\.jar")


def with_moved_imports(path: Path, tools: JavaTestClasspath, folder: Path) -> Path:
    """Return a Java file that fits the release of a class path: the file itself, or a copy with other imports."""
    tested = _TESTED.search(tools.classpath)
    text = changed = path.read_text("utf-8")
    for old, new in MOVED.get(tested[0], {}).items() if tested else ():
        changed = changed.replace(f"import {old};", f"import {new};")
    if changed == text:
        return path
    copy = folder / "moved" / path.parent.name / path.name
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_text(changed, "utf-8")
    return copy
