"""Misdeeds of subjects instead of an answer."""

from __future__ import annotations

import os
import signal
import time


def forever() -> None:
    while True:
        time.sleep(60)


def spin() -> None:
    while True:
        pass


def die(code: int) -> None:
    os._exit(code)


def killed(number: int) -> None:
    os.kill(os.getpid(), number)
    forever()


def flood(data: bytes, descriptor: int = 1) -> None:
    while True:
        os.write(descriptor, data)


def speak(data: bytes) -> None:
    os.write(1, data)


def drip() -> None:
    while True:
        time.sleep(0.05)
        os.write(1, b"x")


def close_output() -> None:
    os.close(1)
    forever()


def child_keeps_output(own_session: bool = False, seconds: float = 20) -> None:
    """A process that holds the pipes open for a while; in a session of its own it is found by its mark alone."""
    if os.fork() == 0:
        if own_session:
            os.setsid()
        time.sleep(seconds)
        os._exit(0)


def deafen() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def deep(depth: int) -> bytes:
    return b"[" * depth + b"]" * depth
