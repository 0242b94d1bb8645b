"""A file is written completely or not at all, and the result is printed in either case."""

from __future__ import annotations

import ast
import json
import random
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from _pytest.mark.structures import ParameterSet

from entrycache_cli.main import main
from entrycache_conformance.java.driver import build_driver
from entrycache_conformance.java.releases import all_releases
from entrycache_conformance.subjects.processes import SubjectLog
from entrycache_dev.bench.result import BenchResult
from entrycache_protocol.errors import WriteError
from entrycache_protocol.files import atomic_path, write_text
from tests.support import ROOT
from tests.support.command import package_of
from tests.support.traces import plant

CASE = '{"system": "pulsar-pip430", "steps": [{"op": "usage"}]}'


def no_room() -> None:
    """Let no file of this process grow, as on a full disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def without_room(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", package_of(arguments[0]), *arguments]
    return subprocess.run(
        argv,
        cwd=cwd,
        capture_output=True,
        text=True,
        preexec_fn=no_room,
        check=False,
        timeout=300,
    )


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("work")
    (folder / "case.json").write_text(CASE, "utf-8")
    (folder / "bench.json").write_text(json.dumps(BenchResult(1, 1_000, "CPython 3.11", 2, [], []).to_json()), "utf-8")
    rows = plant.honest(folder / "honest", 300, 1)["broker-0"]
    plant.wrong_tickets(rows, random.Random(1))
    plant.write(folder / "wrong", rows)
    return folder


FULL = [
    ("rules --write", ""),
    ("conform state-insert-counted-twice --level range", "violates"),
    ("conform state-insert-counted-twice --level range --json", '"verdict": "violates"'),
    ("conform threads-count-lost --system kafka-streams --level concurrent", "violates"),
    ("conform state-insert-counted-twice --level range --known new.toml --fix", "violates"),
    ("trace generate tail-fanout --events 300 --out new-made", ""),
    ("trace record fast --case case.json --out new-recorded", ""),
    ("trace convert honest new.jsonl", ""),
    ("init --lang python new", ""),
    ("vectors fill --pack pulsar-segmented-all --out new", ""),
    ("vectors consume small expire-at-the-cutoff --failures new", "violates"),
    ("audit wrong --backend local --out new", "violates"),
    ("audit wrong --backend local --out new --json", '"R-EVICT-8": "violates"'),
    ("trace simulate honest --out new", "honest"),
    ("trace explain honest --seq 20 --out new", ""),
    ("policies --preset zipf --requests 300 --policy fifo --out new", "fifo"),
    ("campaign fast state-insert-counted-twice --cases 30 --steps 60 --out new.json --failures new", "state-insert"),
    ("campaign reference --system pulsar-pip430 --cases 2 --steps 9 --out new.json", "reference"),
    ("bench --from bench.json --page new.md", "median of"),
    ("bench-audit --sizes 2000 --rounds 1 --page new.md", ""),
    ("diff pulsar:4.2.4 pulsar:5.0.1 --cases 2 --out new.md", "# Behaviour diffs"),
    (f"versions --results {ROOT}/docs/campaigns --write new.md", "Versions"),
]


NO_FOLDER = ": No usable temporary directory found in "
"""The message of Python if it finds no place for temporary files; a benchmark has to write first."""

PATHS = {"--out", "--write", "--page", "--failures", "--fix", "--known"}
"""The options that name a file or a folder to write."""

DEAR = (
    "rules",
    "--json",
    "threads-",
    "--known",
    "simulate",
    "explain",
    "campaign fast",
    "bench",
    "diff",
    "policies",
    "vectors",
)
"""Parts of commands that only the long tests run."""


def params() -> list[ParameterSet]:
    marked = [pytest.mark.long if any(part in line for part in DEAR) else () for line, _ in FULL]
    return [pytest.param(line, said, marks=mark, id=line) for (line, said), mark in zip(FULL, marked, strict=True)]


@pytest.mark.long
@pytest.mark.parametrize(("line", "said"), params())
def test_a_full_disk_is_one_line_and_the_verdict_is_said(line: str, said: str, work: Path) -> None:
    for release in all_releases() if line.startswith("diff") else ():
        if release.subject in line:
            build_driver(release)  # it is built once, where there is room
    before = sorted(work.rglob("*"))
    done = without_room(*line.split(), cwd=work)
    assert done.returncode == 2, done.stdout + done.stderr
    (message,) = done.stderr.splitlines()
    assert message.startswith("entrycache: cannot write ")
    assert message.endswith(": File too large") or (line.startswith("bench-audit") and NO_FOLDER in message)
    assert said in done.stdout
    left = [path for path in work.rglob("*") if path not in before and path.is_file() and "hypothesis" not in str(path)]
    assert left == []
    assert list(work.glob("new-made/*")) == []


def commands(group: Any, before: str = "") -> Iterator[tuple[str, set[str]]]:
    """Yield every command with the names of its options."""
    for name in group.list_commands(None):
        command = group.get_command(None, name)
        if isinstance(command, click.Group):
            yield from commands(command, f"{name} ")
        else:
            yield before + name, {option for each in command.params for option in each.opts}


def test_every_command_that_writes_is_tried() -> None:
    writing = {name for name, options in commands(main) if options & PATHS} | {"trace convert", "init"}
    covered = {name for name in writing for line, _ in FULL if line.startswith(f"{name} ")}
    assert covered == writing


def test_what_was_there_stays_until_it_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file.txt"
    write_text(path, "one")
    path.chmod(0o640)
    with pytest.raises(KeyError), atomic_path(path) as temporary:
        temporary.write_text("half of tw")
        raise KeyError
    assert path.read_text() == "one"
    write_text(path, "two")
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("two", 0o640)
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("target", ["file", "nowhere", "link"])
def test_a_link_is_replaced_and_its_target_stays(tmp_path: Path, target: str) -> None:
    write_text(tmp_path / "file", "one")
    (tmp_path / "file").chmod(0o666)
    for kind in ("report", "log"):
        (tmp_path / "link").unlink(missing_ok=True)
        (tmp_path / "link").symlink_to(target)
        if kind == "report":
            write_text(tmp_path / "link", "two")
        else:
            SubjectLog(tmp_path / "link")(b"two")
        assert not (tmp_path / "link").is_symlink()
        assert (tmp_path / "link").stat().st_mode & 0o022 == 0
        assert (tmp_path / "link").read_text() == "two"
        assert (tmp_path / "file").read_text() == "one"
        assert not (tmp_path / "nowhere").exists()


def test_a_standard_stream_is_written_to_and_stays_a_link(tmp_path: Path) -> None:
    code = "from pathlib import Path; from entrycache_protocol.files import *; write_text(Path('/dev/stdout'), 'text')"
    with (tmp_path / "out").open("w") as out:
        subprocess.run([sys.executable, "-c", code], stdout=out, check=True)
    assert (tmp_path / "out").read_text() == "text"
    assert Path("/dev/stdout").is_symlink()


def test_what_is_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file" / "below", tmp_path / ("x" * 300)):
        with pytest.raises(WriteError, match="cannot write "):
            write_text(path, "text")
    with pytest.raises(WriteError, match="Is a directory"):
        write_text(tmp_path, "text")


def test_a_device_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    write_text(Path("/dev/null"), "text")
    assert Path("/dev/null").is_char_device()


WRITES = {"write_text", "write_bytes", "savefig", "write_table", "ParquetWriter"}
OWN = {
    "entrycache_protocol/files.py": "the one place",
    "entrycache_trace/files.py": "a part, which is renamed when it is whole",
    "entrycache_spark/folders.py": "beside, in `whole`",
    "entrycache_trace/convert.py": "a part, which is renamed when it is whole",
    "entrycache_trace/generators/generate.py": "beside, in `whole`",
    "entrycache_spark/tasks.py": "parts, in a folder that goes away with the task",
    "entrycache_dev/audit_bench_page.py": "beside, in `whole`",
    "entrycache_conformance/brokers/pulsar.py": "settings and a log, in a folder that goes away with the broker",
    "entrycache_conformance/brokers/kafka_streams.py": "settings of a broker, in a folder that goes away with it",
    "entrycache_dev/bench/page.py": "beside, in `whole`",
    "entrycache_league/report.py": "beside, in `whole`",
    "entrycache_conformance/subjects/processes.py": "a log, which is read while it grows",
    "entrycache_conformance/java/build.py": "builds, which are made in a folder of their own and renamed",
    "entrycache_conformance/unpinned.py": "drivers, which are made in a folder of their own and renamed",
    "entrycache_evidence/tlc/runner.py": "what TLC reads, in a folder that goes away with it",
    "entrycache_cli/commands/exit_codes.py": "stdin and stderr, where they are closed",
    "entrycache_cli/commands/init.py": "temporary, in `atomic_path`",
    "entrycache_cli/plugin/items.py": "what workers share, in a folder of pytest's that goes away",
    "entrycache_conformance/vectors/packs.py": "beside, in `whole`",
    "entrycache_dev/pages/settings.py": "pages of a checkout",
}


def writes(text: str) -> set[str]:
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    methods = [call.func for call in calls if isinstance(call.func, ast.Attribute)]
    named = {method.attr for method in methods if ast.unparse(method.value) not in {"files", "checkout"}}
    modes = {
        mode.value
        for call in calls
        if ast.unparse(call.func).rpartition(".")[2] == "open"
        for mode in call.args
        if isinstance(mode, ast.Constant)
    }
    return (WRITES & named) | ({"open"} if modes & {"w", "wb", "a", "ab", "x", "xb"} else set())


def test_every_file_is_written_by_the_one_place() -> None:
    places = {
        str(path.relative_to(base))
        for base in (ROOT / "conformance", ROOT / "spark_checks")
        for path in base.rglob("*.py")
        if writes(path.read_text("utf-8"))
    }
    assert places == OWN.keys()
    assert writes("path.write_text('x')\nwrite_text(path, 'x')") == {"write_text"}
    assert writes("files.write_text(path, 'x')") == set()
    assert writes("path.open('w')") == writes("open(path, 'ab')") == {"open"}
    assert writes("path.open()\npath.open('rb')") == set()
