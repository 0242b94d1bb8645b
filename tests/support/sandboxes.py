"""Find the sandboxes of this machine; a test that lacks one skips and names it."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache

COMMANDS = {
    "prlimit": ("prlimit", "--version"),
    "unshare": ("unshare", "--map-root-user", "--net", "--pid", "--fork", "true"),
    "bwrap": ("bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"),
    "docker": ("docker", "info"),
}
"""A command that works only if the sandbox exists and may be started."""


@cache
def can(sandbox: str) -> bool:
    """Return whether this machine has the sandbox and lets us start it."""
    if shutil.which(COMMANDS[sandbox][0]) is None:
        return False
    try:
        return subprocess.run(COMMANDS[sandbox], capture_output=True, check=False, timeout=60).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def not_there() -> list[str]:
    """Return the sandboxes that cannot be started here."""
    return [name for name in COMMANDS if not can(name)]
