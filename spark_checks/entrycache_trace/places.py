"""Where a trace is: in a folder of this machine, or where Spark finds it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from entrycache_trace.files import PATTERN

SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")

TABLE: Final = "table:"
"""Before the name of a table of Spark's catalog."""


def is_elsewhere(where: str) -> bool:
    """Whether Spark is to find it: it has a scheme or is a pattern, and no file or folder has that very name."""
    return not Path(where).exists() and (SCHEME.match(where) is not None or PATTERN.search(where) is not None)
