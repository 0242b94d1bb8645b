"""One broken file again: `python -m tests.support.files KIND SEED`, as a failing test prints it."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.support.files.again import tried_kind
from tests.support.files.runs import wrong

if __name__ == "__main__":
    path, end = tried_kind(sys.argv[1], sys.argv[2], Path(tempfile.mkdtemp(prefix="entrycache-files-")))
    said = wrong(end, path) or "as documented"
    print(f"{end.out}{end.err}{path}: exit {end.code}, {end.cpu_seconds:.1f} CPU seconds: {said}")
