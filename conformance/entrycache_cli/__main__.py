"""Run the command `entrycache`, also as `python -m entrycache_cli`.

Signals end a command with the documented exit code at its first and last moment too. `begin` installs signal handlers
before any slow import, and then imports the module that runs the command. At its end, while Python deletes its modules,
a signal would end the process by itself. So the process exits before that, after all exit handlers have run.
"""

import atexit
import gc
import os
import signal
import sys
from contextlib import suppress
from importlib import import_module
from types import FrameType
from typing import Final

COLLECT_AFTER: Final = 100_000
"""The number of new objects after which Python looks for cycles: a run makes millions of tuples, which have none."""


def begin(module: str) -> None:
    """Run the `main` of a module; handle signals until the module is imported and installs its own handlers."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end)
    gc.set_threshold(COLLECT_AFTER, 20)
    ended: list[int] = []
    atexit.register(_leave, ended)  # the first one, which runs last
    try:
        import_module(module).main()
    except SystemExit as end:
        ended += [end.code] if isinstance(end.code, int) else []
        raise


def _end(number: int, frame: FrameType | None) -> None:
    os._exit(128 + number)


def _leave(ended: list[int]) -> None:
    """End with the exit code of a command, if it has one."""
    if ended:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError, AttributeError):  # there is none where it was closed
                stream.flush()
        os._exit(ended[0])


def main() -> None:
    """Run the command line."""
    begin("entrycache_cli.main")


if __name__ == "__main__":
    main()
