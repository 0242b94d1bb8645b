"""The page docs/how-to/untrusted-adapters.md: an untrusted adapter runs in each sandbox and cannot do harm."""

from __future__ import annotations

import re
import shlex
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import ROOT
from tests.support.command import run
from tests.support.sandboxes import can

PAGE = (ROOT / "docs" / "how-to/untrusted-adapters.md").read_text("utf-8")
SANDBOXED = {
    command.split()[0]: command
    for command in re.findall(r'^\$ entrycache conform --command "(.*)"$', PAGE, re.MULTILINE)
}
STEPS_OUT = {
    "prlimit": ["python3 -c 'bytearray(3 << 30)'", "head -c 20000000 /dev/zero > large"],
    "unshare": ["bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}'"],
    "bwrap": ["bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}'", "cat {secret}", "touch theirs/mark", "touch {secret}"],
    "docker": ["cat {secret}", "touch theirs/mark"],
}
"""Harmful actions that an untrusted adapter tries and each sandbox prevents."""


@pytest.fixture
def port() -> Iterator[int]:
    """Listen on a port of this machine."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


def write_adapter(folder: Path, steps: list[str], port: int) -> None:
    """Write an adapter that gives up if a harmful action succeeds, and plays otherwise."""
    (folder / "secret").write_text("mine", "utf-8")
    (folder / "theirs").mkdir(exist_ok=True)
    shutil.copy(ROOT / "tests/conformance/outside/cache.mjs", folder / "theirs")
    attempts = [f"({step.format(port=port, secret=folder / 'secret')}) >/dev/null 2>&1 && exit 9" for step in steps]
    (folder / "theirs" / "run.sh").write_text("\n".join([*attempts, "exec node theirs/cache.mjs", ""]), "utf-8")


@pytest.mark.long
@pytest.mark.parametrize("sandbox", SANDBOXED)
def test_an_untrusted_adapter_plays_in_the_sandbox_and_does_not_get_out(
    sandbox: str, port: int, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lacking = [
        tool for tool, there in ((sandbox, can(sandbox)), ("node", shutil.which("node") is not None)) if not there
    ]
    if lacking:
        pytest.skip(f"{lacking[0]} is missing, or not allowed here")
    monkeypatch.chdir(tmp_path)
    write_adapter(tmp_path, STEPS_OUT[sandbox], port)
    code, out, err = run(capsys, "smoke", "--command", SANDBOXED[sandbox])
    assert code == 0, out + err
    for step in STEPS_OUT[sandbox]:
        write_adapter(tmp_path, [step], port)
        assert subprocess.run(["sh", "theirs/run.sh"], stdin=subprocess.DEVNULL, check=False).returncode == 9


def test_the_sandboxes_are_those_of_the_page() -> None:
    assert SANDBOXED.keys() == STEPS_OUT.keys()
    for command in SANDBOXED.values():
        assert shlex.split(command)[-2:] == ["sh", "theirs/run.sh"]
