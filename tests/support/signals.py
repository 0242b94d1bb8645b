"""Signals at random moments: `python -m tests.support.signals --count 100 --seed 1`, a line a signal.

Each ends a command within the grace, with the documented exit code and no traceback; no process stays that it has
started, no half of a file. `--only NAME` tries one command alone. Exit 1 where one ends otherwise.
"""

from __future__ import annotations

import argparse
import os
import random
import secrets
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final, NamedTuple

import psutil

from tests.support import ROOT
from tests.support.command import package_of

BUSY_SECONDS: Final = 8.0
"""Two, on a machine that is not busy."""

WAITS_SECONDS: Final = 30.0
GONE_SECONDS: Final = 3.0
"""The longest time that an ended process may take to be gone."""

LATEST_SECONDS: Final = 6.0
MARK: Final = "ENTRYCACHE_SIGNAL_TRIED"
NUMBERS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

CASE: Final = '{"system": "pulsar-pip430", "steps": [{"op": "usage"}]}'

COMMANDS: Final[dict[str, str]] = {
    "import": "rules R-EVICT-3",
    "bulk": "conform fast --bulk 60 --level range",
    "child": "conform expire-at-the-cutoff --profile nightly --level range",
    "deaf": "conform --command 'sleep 1000'",
    "threads": "conform fast --system kafka-streams --level concurrent --profile nightly",
    "maven": "conform pulsar:4.2.4",
    "jar": "conform pulsar:4.2.4 --profile nightly",
    "known": "conform fast --profile nightly --known known.toml",
    "smoke": "smoke --command 'sleep 1000'",
    "serve": "serve fast --system pulsar-pip430",
    "replay": "replay case.json --command 'sleep 1000'",
    "replay-as": "replay case.json --as pytest",
    "faults": "faults",
    "check": "rules --check",
    "prove": "prove",
    "bench": "bench",
    "released": "bench --released 4.2.4",
    "doctor": "doctor",
    "subjects": "subjects",
    "init": "init --lang python begun",
    "fill": "vectors fill --out filled",
    "consume": "vectors consume small --command 'sleep 1000'",
    "campaign": "campaign reference fast --system pulsar-pip430 --cpu-seconds 60",
    "diff": "diff reference fast --cases 100000",
    "versions": f"versions --results {ROOT}/docs/campaigns --findings {ROOT}/docs/findings",
    "generate": "trace generate tail-fanout --events 10000000 --out made",
    "record": "trace record --command 'sleep 1000' --case case.json --out recorded",
    "convert": "trace convert trace trace.jsonl",
    "inspect": "trace inspect trace",
    "format": "trace check trace",
    "policies": "policies --preset catch-up",
    "explain": "trace explain trace --seq 900",
    "simulate": "trace simulate trace --config '{}'",
    "local": "audit trace --backend local --out out",
    "rows": "audit trace --backend replay --out out",
    "spark": "audit trace --backend spark --out out",
    "tour": "TOUR",
}


class SignalTrial(NamedTuple):
    """One signal: to which command, after so many seconds, to its whole group or to it alone; what was wrong."""

    command: str
    number: signal.Signals
    after: float
    group: bool
    code: int | None
    seconds: float
    wrong: str

    def __str__(self) -> str:
        whom = "group" if self.group else "process"
        line = f"{self.command:10} {self.number.name:8} to the {whom:8} after {self.after:4.2f} s"
        return f"{line}: exit {self.code} in {self.seconds:.1f} s {self.wrong}".rstrip()


def prepared(folder: Path, with_trace: bool = True) -> Path:
    """A folder with what the commands read."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "case.json").write_text(CASE, "utf-8")
    (folder / "known.toml").write_text("", "utf-8")
    if with_trace:
        argv = ["trace", "generate", "tail-fanout", "--events", "20000", "--out", "trace"]
        subprocess.run([sys.executable, "-m", "entrycache_cli", *argv], cwd=folder, check=True, capture_output=True)
    return folder


def argv_of(command: str) -> list[str]:
    line = COMMANDS[command]
    if line == "TOUR":
        return [sys.executable, "-m", "entrycache_dev.demo"]
    arguments = shlex.split(line)
    return [sys.executable, "-m", package_of(arguments[0]), *arguments]


def marked(mark: str) -> list[psutil.Process]:
    """The living processes that have inherited a mark."""
    processes = []
    for process in psutil.process_iter():
        try:
            if process.status() != psutil.STATUS_ZOMBIE and process.environ().get(MARK) == mark:
                processes.append(process)
        except psutil.Error:
            continue
    return processes


def handles_sigterm(process: psutil.Process) -> bool:
    """Return whether our first line, which handles SIGTERM, has run; before that a signal ends Python by itself."""
    status = Path(f"/proc/{process.pid}/status").read_text("utf-8")
    caught = next((line.split()[1] for line in status.splitlines() if line.startswith("SigCgt:")), "0")
    return bool(int(caught, 16) >> (signal.SIGTERM - 1) & 1)


def hears_all() -> None:
    """Whoever starts this may itself ignore some."""
    for number in NUMBERS:
        signal.signal(number, signal.SIG_DFL)


def try_signal(command: str, number: signal.Signals, after: float, group: bool, folder: Path) -> SignalTrial:
    """Start a command, send it a signal, and look at how it ends."""
    return try_program(command, argv_of(command), number, after, group, folder)


def try_program(
    command: str, argv: list[str], number: signal.Signals, after: float, group: bool, folder: Path
) -> SignalTrial:
    """The same with any program, under a name."""
    mark = secrets.token_hex(8)
    scratch = folder / f"tmp-{mark}"
    scratch.mkdir()
    paths = os.pathsep.join(str(ROOT / name) for name in ("reference", "conformance", "spark_checks"))
    environment = {**os.environ, MARK: mark, "TMPDIR": str(scratch), "PYTHONPATH": paths}
    if command == "maven":
        environment["ENTRYCACHE_CACHE"] = str(scratch)  # where nothing is built yet
    log = scratch / "stderr"
    with (
        log.open("wb") as stderr,
        subprocess.Popen(
            argv,
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            start_new_session=True,
            preexec_fn=hears_all,  # noqa: PLW1509 - there is one thread
        ) as process,
    ):
        code, seconds = _ended(process, number, after, group)
    err = log.read_text("utf-8", "replace")
    end = time.monotonic() + GONE_SECONDS
    while (left := marked(mark)) and time.monotonic() < end:
        time.sleep(0.05)
    line = [" ".join(process.cmdline())[:100] for process in left]
    for process in left:
        process.kill()
    files = list(folder.rglob(".entrycache-*.partial"))
    halves = [path.name for path in files]
    for path in files:
        path.unlink()
    halves += [path.name for path in scratch.rglob("entrycache-*") if not path.name.startswith("entrycache-error")]
    wrongs = {
        f"expected exit {128 + number}": code != 128 + number and seconds >= 0,
        f"it took {seconds:.1f} s": seconds > BUSY_SECONDS,
        f"on stderr: {err[-300:]!r}": "Traceback" in err or "KeyboardInterrupt" in err,
        f"left behind: {line}": bool(left),
        f"halves of files: {halves}": bool(halves) and code == 128 + number and seconds < 1.0,
    }
    wrong = "; ".join(what for what, is_so in wrongs.items() if is_so)
    return SignalTrial(command, number, after, group, code, seconds, wrong)


def _ended(
    process: subprocess.Popen[bytes], number: signal.Signals, after: float, group: bool
) -> tuple[int | None, float]:
    """The exit code, and the seconds from the signal to it; -1 where it was over before."""
    own = psutil.Process(process.pid)
    began = time.monotonic()
    while process.poll() is None:
        if time.monotonic() - began >= after and handles_sigterm(own):
            break
        time.sleep(0.005)
    if process.poll() is not None:
        return process.returncode, -1.0
    sent = time.monotonic()
    (os.killpg if group else os.kill)(process.pid, number)
    try:
        process.wait(WAITS_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    return process.returncode, time.monotonic() - sent


def chosen(seed: int, count: int, names: list[str]) -> list[tuple[str, signal.Signals, float, bool]]:
    """So many signals: each command in turn, at moments that are early as often as late."""
    source = random.Random(seed)
    source.shuffle(names)
    return [
        (names[at % len(names)], source.choice(NUMBERS), LATEST_SECONDS * source.random() ** 2, source.random() < 0.5)
        for at in range(count)
    ]


def main() -> int:
    """Try them, one after the other; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append", choices=list(COMMANDS))
    options = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="signals-") as name:
        folder = prepared(Path(name))
        for each in chosen(options.seed, options.count, options.only or list(COMMANDS)):
            processes = try_signal(*each, folder)
            wrong += bool(processes.wrong)
            print(processes, flush=True)
    print(f"seed {options.seed}: {options.count} signals, {wrong} ended otherwise than documented")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
