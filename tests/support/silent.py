"""A concurrent subject that is right but for some histories: `python silent.py KIND FOLDER`.

It hands every line on to our fast cache. What it counts stands in the folder, because it may be started again.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import zlib
from pathlib import Path


def counted(folder: Path) -> int:
    """Return how many histories were requested, over all starts."""
    with (folder / "asked").open("a") as file:
        file.write(".")
    return (folder / "asked").stat().st_size


def is_one_of_twenty(request: dict[str, object]) -> bool:
    """Return whether the history is one of those, by its clients."""
    return zlib.crc32(json.dumps(request["clients"], sort_keys=True).encode()) % 20 == 0


def main(kind: str, folder: Path) -> None:
    """Serve."""
    argv = [sys.executable, "-m", "entrycache_cli", "serve", "fast", "--system", "kafka-streams"]
    inner = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert inner.stdin is not None
    assert inner.stdout is not None
    for line in sys.stdin.buffer:
        request = json.loads(line)
        if request["cmd"] == "history":
            number = counted(folder)
            if kind == "hangs-on-the-same" and is_one_of_twenty(request):
                time.sleep(3600)
            if kind == "dies-on-the-same" and is_one_of_twenty(request):
                os._exit(7)
            if (kind == "dies-one-in-fifty" and number % 50 == 30) or (kind == "dies-once" and number == 30):
                os._exit(7)
            if (kind == "hangs-one-in-fifty" and number % 50 == 30) or (kind == "hangs-once" and number == 30):
                time.sleep(3600)
        inner.stdin.write(line)
        inner.stdin.flush()
        if request["cmd"] != "stop":
            sys.stdout.buffer.write(inner.stdout.readline())
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
