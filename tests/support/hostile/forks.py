"""Runs many `entrycache` commands, each in a process of its own that was forked after the imports.

`python forks.py JOBS BOUND` reads a JSON array of {"argv", "out", "err"} and prints a JSON array of
{"code", "seconds"} in the same order; `code` is null where a command was not over after BOUND seconds.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from entrycache_cli import main as cli
from entrycache_cli.commands import conform, replay, smoke  # noqa: F401  # here, and not in each process


def begin(job: dict[str, Any]) -> int:
    """Fork one command; the id of its process."""
    identity = os.fork()
    if identity:
        return identity
    code = 99
    try:
        os.setsid()
        signal.signal(signal.SIGINT, signal.default_int_handler)  # what runs in the background ignores it,
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # and this one below nohup
        for path, descriptor in (("/dev/null", 0), (job["out"], 1), (job["err"], 2)):
            os.dup2(os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC), descriptor)
        try:
            cli.main(job["argv"], prog_name="entrycache")
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 0 if end.code is None else 98
        except BaseException:
            sys.excepthook(*sys.exc_info())
            code = 97
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


def main() -> None:
    most, bound = int(sys.argv[1]), float(sys.argv[2])
    jobs = json.load(sys.stdin)
    gc.freeze()
    results: list[dict[str, Any]] = [{}] * len(jobs)
    waiting = list(range(len(jobs)))
    running: dict[int, tuple[int, float]] = {}
    while waiting or running:
        while waiting and len(running) < most:
            at = waiting.pop(0)
            running[begin(jobs[at])] = (at, time.monotonic())
        for identity, (at, began) in list(running.items()):
            seconds = time.monotonic() - began
            ended, status = os.waitpid(identity, os.WNOHANG)
            if ended:
                results[at] = {"code": os.waitstatus_to_exitcode(status), "seconds": seconds}
                del running[identity]
            elif seconds > bound:
                with Path(jobs[at]["err"]).open("a") as err:
                    err.write("not over in time\n")
                os.killpg(identity, signal.SIGKILL)
                os.waitpid(identity, 0)
                results[at] = {"code": None, "seconds": seconds}
                del running[identity]
        time.sleep(0.01)
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()
