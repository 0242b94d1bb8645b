"""Commands end in time with the documented exit code and leave nothing behind, whatever a subject does."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final, NamedTuple

import pytest
from _pytest.mark.structures import ParameterSet

from entrycache_cli.report.run_text import NOT_REPRODUCED as SELDOM_SAID
from entrycache_conformance.shrink import CONFIRMING, SHRINKING
from entrycache_conformance.subjects.child import Child
from entrycache_protocol.errors import BrokenSubject, MissingPrerequisite
from tests.support import hostile
from tests.support.hostile.kinds import AFTER_OTHERS, IN_FULL, IN_LONG, KINDS, SELDOM
from tests.support.requested import requested_names

HERE = Path(hostile.__file__).parent
JOBS = 8
BOUND_SECONDS = 180
"""The time limit: twenty seconds on a machine that is not busy."""
STEPS_MAX = 8


UNANSWERED = [name for name, kind in KINDS.items() if kind.rule]
SMOKED = [
    "start-silent", "start-exits-4", "start-floods-lines", "start-nested-100000", "version-2", "ops-unknown",
    "systems-several", "ops-empty", "implementation-markup", "id-next", "outcomes-fewer", "insert-error-unknown",
    "skipped-always", "errored-message-markup", "run-without-end", "hangs-always", "dies-always", "get-hangs",
    "get-exits-1", "get-errs", "get-hits-everything", "reads-nothing-after-start", "leaked-positive", "right",
]  # fmt: skip


IN_JSON = ("ops-empty", "leaked-positive")
IN_JSON_LONG = ("errored-message-surrogate", "implementation-surrogate", "skipped-with-markup")


IN_EVERY_RUN = {
    "right", "offers-only-get", "get-exits-1", "get-hangs", "hangs-always", "leaked-positive", "wrong-once-late",
    "begins-with-a-daemon",
}  # fmt: skip
"""The kinds of conforming or shrunk runs in every run; the expensive others are for the long run."""


assert set(KINDS) >= IN_EVERY_RUN


def params(names: Iterable[str]) -> list[ParameterSet]:
    """Return the parameters. Of the kinds that break, or leave nothing to check, some are in every run."""
    broken = [name for name, kind in KINDS.items() if kind.code == 3]
    empty = [name for name, kind in KINDS.items() if kind.code == 2]
    skipping = {"skipped-endlessly", "skipped-with-and-without-url", "skipped-always"}
    dear = {name for name, kind in KINDS.items() if kind.code in {0, 1}} - IN_EVERY_RUN | IN_LONG | skipping
    dear |= {*broken} - {*broken[::24]} | {*empty} - {*empty[::3]}
    return [pytest.param(name, marks=pytest.mark.long if name in dear else ()) for name in names]


class Ran(NamedTuple):
    """The end of a command: its exit code, its output, and the processes that were left a moment later."""

    code: int | None
    out: str
    err: str
    seconds: float
    left: list[str]


Run = Callable[[list[tuple[str, list[str]]]], list[Ran]]


def argv_of(kind: str, scratch: Path) -> str:
    """Return the command of the subject of that kind."""
    return shlex.join([sys.executable, "-I", "-S", str(HERE), kind, str(scratch)])


def alive(mark: str) -> list[str]:
    """Return the command lines of living processes that mention the mark."""
    commands = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue
        if mark in line:
            commands.append(line)
    return commands


def left_behind(scratch: Path) -> list[str]:
    """Return the processes of the subject that are left a little later."""
    end = time.monotonic() + 3
    while (processes := alive(str(scratch))) and time.monotonic() < end:
        time.sleep(0.05)
    return processes


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Run commands on kinds in parallel; `SCRATCH` in an argument is a folder of that run alone."""

    def run_all(wanted: list[tuple[str, list[str]]]) -> list[Ran]:
        jobs, folders = [], []
        for kind, arguments in wanted:
            folder = tmp_path_factory.mktemp("hostile")
            folders.append(folder)
            timeout = ["--timeout", f"{KINDS[kind].timeout:g}"]
            argv = [part.replace("SCRATCH", str(folder)) for part in arguments]
            argv += ["--command", argv_of(kind, folder), *timeout]
            jobs.append({"argv": argv, "out": str(folder / "out"), "err": str(folder / "err")})
        done = subprocess.run(
            [sys.executable, str(HERE / "forks.py"), str(JOBS), str(BOUND_SECONDS)],
            input=json.dumps(jobs), stdout=subprocess.PIPE, text=True, check=True,
        )  # fmt: skip
        return [
            Ran(result["code"], _text(folder / "out"), _text(folder / "err"), result["seconds"], left_behind(folder))
            for result, folder in zip(json.loads(done.stdout), folders, strict=True)
        ]

    return run_all


def _text(path: Path) -> str:
    return path.read_text("utf-8")


def conform_arguments(kind: str) -> list[str]:
    return ["conform", "--level", KINDS[kind].level, "--profile", "dev", "--failures", "SCRATCH/failures"]


@pytest.fixture(scope="session")
def conformed(run: Run, request: pytest.FixtureRequest) -> dict[str, Ran]:
    """Return every kind under `conform`. Those that wait for a time-out come first, because they cost no work."""
    names = sorted(requested_names(request, "conformed"), key=lambda name: (KINDS[name].timeout, name))
    short = [name for name in names if KINDS[name].code == 0 and name not in IN_FULL]
    wanted = [(name, ["smoke"] if name in short else conform_arguments(name)) for name in names]
    return dict(zip(names, run(wanted), strict=True))


@pytest.fixture(scope="session")
def smoked(run: Run) -> dict[str, Ran]:
    return dict(zip(SMOKED, run([(name, ["smoke", "--json"]) for name in SMOKED]), strict=True))


PROGRESS: Final = re.compile(f": ({SHRINKING}|{CONFIRMING}): try [0-9]+, ")
"""The line that a run prints off a terminal while it is busy with a failure for long, as on a loaded machine."""


def hold_manners(ran: Ran) -> None:
    assert ran.code is not None, f"it did not end: {ran.err}"
    assert "Traceback" not in ran.err + ran.out
    assert ran.left == []
    if ran.code > 128:
        assert ran.err.strip() == ""
    elif ran.code >= 2:
        lines = ran.err.splitlines()
        assert len(lines) == 1, ran.err
        assert lines[0].startswith("entrycache: ")
        assert len(lines[0]) < 1_000
        assert all(part.isprintable() for part in lines[0])
    else:
        assert [line for line in ran.err.splitlines() if not PROGRESS.search(line)] == []


@pytest.mark.parametrize("name", params(KINDS))
def test_a_command_ends_as_documented(name: str, conformed: dict[str, Ran]) -> None:
    ran = conformed[name]
    hold_manners(ran)
    assert ran.code == KINDS[name].code, ran.err + ran.out


def case_of(ran: Ran) -> Path:
    line = next(line for line in ran.out.splitlines() if line.startswith("case file: "))
    return Path(line.removeprefix("case file: "))


@pytest.mark.rule("R-LIVENESS-1", "R-LIVENESS-2")
@pytest.mark.parametrize("name", params(UNANSWERED))
def test_a_run_without_an_answer_is_a_short_case(name: str, conformed: dict[str, Ran]) -> None:
    case = json.loads(_text(case_of(conformed[name])))
    assert case["rules"] == [KINDS[name].rule]
    assert len(case["steps"]) <= STEPS_MAX


@pytest.fixture(scope="session")
def replayed(run: Run, request: pytest.FixtureRequest, conformed: dict[str, Ran]) -> dict[str, Ran]:
    violating = sorted(name for name in requested_names(request, "replayed") if conformed[name].code == 1)
    wanted = [(name, ["replay", str(case_of(conformed[name]))]) for name in violating]
    return dict(zip(violating, run(wanted), strict=True))


@pytest.mark.parametrize("name", params(name for name, kind in KINDS.items() if kind.code == 1))
def test_the_case_replays(name: str, replayed: dict[str, Ran]) -> None:
    ran = replayed[name]
    hold_manners(ran)
    assert ran.code == (0 if name in SELDOM else 1), ran.err + ran.out
    if KINDS[name].rule:
        assert KINDS[name].rule in ran.out


@pytest.mark.parametrize("name", params(["wrong-once", "wrong-once-late"]))
def test_a_difference_that_does_not_repeat_is_reported_as_one(name: str, conformed: dict[str, Ran]) -> None:
    assert SELDOM_SAID in conformed[name].out


@pytest.mark.parametrize("name", params(sorted(AFTER_OTHERS)))
def test_a_difference_that_needs_earlier_runs_is_reported_as_one(name: str, replayed: dict[str, Ran]) -> None:
    assert "it depends on earlier runs" in replayed[name].out


@pytest.mark.parametrize("name", SMOKED)
def test_smoke_ends_as_documented(name: str, smoked: dict[str, Ran]) -> None:
    ran = smoked[name]
    hold_manners(ran)
    assert ran.code == KINDS[name].code, ran.err + ran.out
    if KINDS[name].rule:
        rules = {rule for result in json.loads(ran.out)["ops"].values() for rule in result["rules"]}
        assert rules == {KINDS[name].rule}


@pytest.fixture(scope="session")
def in_json(run: Run, request: pytest.FixtureRequest) -> dict[str, Ran]:
    names = sorted(requested_names(request, "in_json"))
    return dict(zip(names, run([(name, [*conform_arguments(name), "--json"]) for name in names]), strict=True))


@pytest.mark.long
@pytest.mark.parametrize("name", [*IN_JSON, *(pytest.param(name, marks=pytest.mark.long) for name in IN_JSON_LONG)])
def test_json_is_json_whatever_the_subject_says(name: str, in_json: dict[str, Ran]) -> None:
    ran = in_json[name]
    hold_manners(ran)
    assert ran.code == KINDS[name].code, ran.err
    output = json.loads(ran.out)
    assert output["verdict"] == {0: "conforms", 1: "violates", 2: "nothing-checked"}[ran.code]


@pytest.mark.long
def test_a_hang_is_shrunk_where_messages_are_held_to_their_schemas(run: Run) -> None:
    [ran] = run([("get-hangs", [*conform_arguments("get-hangs"), "--validate"])])
    hold_manners(ran)
    assert ran.code == 1
    assert len(json.loads(_text(case_of(ran)))["steps"]) == 1
    assert ran.seconds < BOUND_SECONDS


@pytest.mark.parametrize(
    ("kind", "prerequisites", "error"),
    [
        ("lacks-something", True, MissingPrerequisite),
        ("lacks-something", False, BrokenSubject),
        ("start-exits-4", True, MissingPrerequisite),
        ("start-exits-3", True, BrokenSubject),
        ("start-closes-stdout", True, BrokenSubject),
    ],
)
def test_only_a_driver_of_ours_may_lack_something(
    kind: str, prerequisites: bool, error: type[Exception], tmp_path: Path
) -> None:
    with pytest.raises(error) as raised:
        Child(shlex.split(argv_of(kind, tmp_path)), prerequisites=prerequisites)
    if kind == "lacks-something":
        assert str(raised.value).endswith("java is not on the path; install a JDK")
    assert left_behind(tmp_path) == []
