"""What a program can be shut into on this machine; a test that lacks one skips, and names it."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache

TRIED = {
    "prlimit": ("prlimit", "--version"),
    "unshare": ("unshare", "--map-root-user", "--net", "--pid", "--fork", "true"),
    "bwrap": ("bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"),
    "docker": ("docker", "info"),
}
"""What works only where the wall is there and may be built."""


@cache
def can(wall: str) -> bool:
    """Whether this machine has the wall, and lets us build it."""
    if shutil.which(TRIED[wall][0]) is None:
        return False
    try:
        return subprocess.run(TRIED[wall], capture_output=True, check=False, timeout=60).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def not_there() -> list[str]:
    """The walls that cannot be built here."""
    return [wall for wall in TRIED if not can(wall)]
