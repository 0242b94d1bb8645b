"""The command `entrycache`, from its first moment on: a signal ends it, before anything that takes long is imported."""

from __future__ import annotations

import os
import signal
from types import FrameType


def main() -> None:
    """Run the command line; it hears signals itself as soon as it is there."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end)
    from entrycache_cli.main import main as command_line  # noqa: PLC0415

    command_line()


def _end(number: int, frame: FrameType | None) -> None:
    os._exit(128 + number)


if __name__ == "__main__":
    main()
