"""The first moment of a command: a signal ends it before anything that takes long is imported."""

from __future__ import annotations

import os
import signal
from importlib import import_module
from types import FrameType


def begin(module: str) -> None:
    """Run the `main` of a module, which hears signals itself as soon as it is there."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end)
    import_module(module).main()


def _end(number: int, frame: FrameType | None) -> None:
    os._exit(128 + number)
