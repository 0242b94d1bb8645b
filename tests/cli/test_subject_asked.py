"""A command needs a subject, and a failure prints the command that replays it, ready to paste."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from entrycache_conformance.resolve import SubjectChoice
from tests.support.command import run

CASE = '{"system": "pulsar-pip430", "steps": [{"op": "usage"}]}'


@pytest.mark.parametrize("command", ["conform", "smoke", "replay CASE", "trace record --case CASE --out OUT"])
@pytest.mark.parametrize("more", ["", "--system pulsar-pip430"])
def test_without_a_subject_nothing_is_tested(
    command: str, more: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = tmp_path / "case.json"
    case.write_text(CASE, "utf-8")
    words = {"CASE": str(case), "OUT": str(tmp_path / "out")}
    code, out, err = run(capsys, *(words.get(word, word) for word in f"{command} {more}".split()))
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert err.startswith("entrycache: no subject was named; expected --command CMD, or one of reference, fast, ")


@pytest.mark.long
@pytest.mark.parametrize(
    "subject",
    [
        ["state-insert-counted-twice"],
        ["--command", f"{sys.executable} -m entrycache_cli serve state-insert-counted-twice", "--timeout", "9.5"],
    ],
    ids=["name", "command"],
)
def test_the_line_that_replays_a_failure_is_pasted_as_it_is(
    subject: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--level", "range", "--failures", str(tmp_path / "a folder; $(touch it)")]
    code, out, _ = run(capsys, "conform", *subject, *options)
    assert code == 1
    (line,) = {line for line in out.splitlines() if line.startswith("replay it: ")}
    program, *arguments = shlex.split(line.removeprefix("replay it: "))
    assert program == "entrycache"
    assert arguments[2:] == subject
    assert run(capsys, *arguments)[0] == 1


@pytest.mark.parametrize(
    "command", ["conform", "smoke", "replay CASE", "vectors consume small", "trace record --case CASE --out OUT"]
)
@pytest.mark.parametrize("name", ["pulsar:4.2.4", "my cache"])
def test_a_name_beside_a_command_is_refused(
    name: str, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The program behind the command would be reported under the name, which may be that of a release."""
    case = tmp_path / "case.json"
    case.write_text(CASE, "utf-8")
    words = {"CASE": str(case), "OUT": str(tmp_path / "out")}
    arguments = [*(words.get(word, word) for word in command.split()), name, "--command", "nosuchprogram"]
    code, out, err = run(capsys, *arguments)
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert f"--command is the subject; leave {name!r} out" in err


def test_a_choice_is_typed_with_all_that_differs() -> None:
    assert SubjectChoice("fast").typed() == "fast"
    whole = SubjectChoice("pulsar:4.2.4", None, "a b.jar", "pulsar-pip430", 3.0)
    assert whole.typed() == "pulsar:4.2.4 --classpath 'a b.jar' --system pulsar-pip430 --timeout 3"


MODULE = """
import os
import subprocess
import sys
from entrycache import Subject
{first}
class Mine(Subject):
    system = "pulsar-pip430"
    def exists(self, cache, pos):
        print("hello")
        {body}
"""


@pytest.mark.parametrize("more", ["", "--junit r.xml"])
def test_a_module_that_ends_the_process_is_no_subject(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, more: str
) -> None:
    """Refuse a module that ends the process on import: the exit code would be its own, with nothing tested."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ends_as_it_begins.py").write_text(MODULE.format(first="sys.exit(0)", body="return {}"))
    code, out, err = run(capsys, "conform", "ends_as_it_begins:Mine", *more.split())
    assert (code, out) == (2, "")
    assert err == "entrycache: cannot import 'ends_as_it_begins': SystemExit: 0\n"


@pytest.mark.long
def test_os_exit_does_not_end_its_judge(tmp_path: Path) -> None:
    """Keep the exit code: 0 would be taken for a cache that conforms."""
    (tmp_path / "mine.py").write_text(MODULE.format(first="", body="os._exit(0)"))
    (tmp_path / "begins.py").write_text(MODULE.format(first="os._exit(0)", body="return {}"))
    for name, code, message in (("mine", 1, "R-LIVENESS-2 is broken"), ("begins", 2, "SystemExit: os._exit(0)")):
        argv = [sys.executable, "-m", "entrycache_cli", "conform", f"{name}:Mine", "--level", "range"]
        ended = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
        assert ended.returncode == code and message in ended.stdout + ended.stderr, ended.stderr


@pytest.mark.long
def test_a_class_is_served_by_its_name(tmp_path: Path) -> None:
    """Serve a class by name, so that one that ends its process or hangs has a process of its own."""
    (tmp_path / "mine.py").write_text(MODULE.format(first="", body="os._exit(0)"))
    command = shlex.join([sys.executable, "-m", "entrycache_cli", "serve", "mine:Mine"])
    argv = [sys.executable, "-m", "entrycache_cli", "conform", "--command", command, "--level", "range"]
    ended = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
    assert ended.returncode == 1, ended.stderr
    assert "R-LIVENESS-2 is broken at step" in ended.stdout
