"""Every changed jar of every system.

    python -m entrycache_dev.write_changed_jars FOLDER

writes them and prints a line each: what is changed, and the jar.
"""

from __future__ import annotations

import sys
from pathlib import Path

from entrycache_cli.systems import CLI_PARTS
from entrycache_dev.changed_jars import write_changed_jars

if __name__ == "__main__":
    for parts in CLI_PARTS.values():
        changes = {} if parts.faults is None else parts.faults.changes
        for name, jar in write_changed_jars(Path(sys.argv[1]), changes).items():
            print(f"{name}\t{jar}")
