"""Misbehaviour at start, before the first answer."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

from .misdeeds import child_keeps_output, close_output, deep, die, drip, flood, forever, killed, spin
from .speaker import KINDS, Kind, Speaker, kind


def at_start(name: str, instead: Callable[[], None], code: int = 3, timeout: float = 10) -> None:
    def misbehave(speaker: Speaker) -> None:
        speaker.on_start = instead

    KINDS[f"start-{name}"] = Kind(misbehave, code, timeout=timeout)


def start_bytes(name: str, data: bytes, then: Callable[[], None] = forever, timeout: float = 10) -> None:
    def instead() -> None:
        with contextlib.suppress(OSError):
            os.write(1, data)
        then()

    at_start(name, instead, timeout=timeout)


HELLO = json.dumps(Speaker(Path()).hello).encode()

at_start("silent", forever, timeout=1)
at_start("slow", lambda: time.sleep(3), timeout=1)
at_start("spins", spin, timeout=1)
at_start("closes-stdout", close_output)
for exit_code in (0, 1, 2, 3, 4, 77, 255):
    at_start(f"exits-{exit_code}", lambda code=exit_code: die(code))
for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGABRT, signal.SIGHUP):
    at_start(f"{number.name.lower()}", lambda number=number: killed(number))
at_start("floods-lines", lambda: flood(b"x" * 1000 + b"\n"))
at_start("floods-without-end", lambda: flood(b"x" * 65536))
at_start("floods-empty-lines", lambda: flood(b"\n" * 65536))
at_start("floods-null-bytes", lambda: flood(b"\0" * 65536))
at_start("floods-stderr-silent", lambda: flood(b"y" * 1000 + b"\n", 2), timeout=1)
at_start("floods-stderr-without-end", lambda: flood(b"y" * 65536, 2), timeout=1)
at_start("drips", drip, timeout=1)

start_bytes("empty-line", b"\n")
start_bytes("banner", b"Listening on port 8080\n" + HELLO + b"\n")
start_bytes("not-json", b"{version: 1}\n")
start_bytes("python-dict", str(Speaker(Path()).hello).encode() + b"\n")
start_bytes("binary", bytes(range(256)) + b"\n")
start_bytes("bom", b"\xef\xbb\xbf" + HELLO + b"\n")
start_bytes("utf-16", HELLO.decode().encode("utf-16") + b"\n\0")
start_bytes("latin-1", HELLO.replace(b"hostile", b"h\xf6stile") + b"\n")
start_bytes("null", b"null\n")
start_bytes("array", b"[" + HELLO + b"]\n")
start_bytes("string", b'"hello"\n')
start_bytes("number", b"1\n")
start_bytes("nan-alone", b"NaN\n")
start_bytes("half-line-then-exit", HELLO[:40], lambda: die(0))
start_bytes("half-line-then-silent", HELLO[:40], timeout=1)
start_bytes("no-newline-then-exit", HELLO, lambda: die(0))
start_bytes("no-newline-then-silent", HELLO, timeout=1)
start_bytes("two-objects-a-line", HELLO + HELLO + b"\n")
start_bytes("pretty-printed", json.dumps(Speaker(Path()).hello, indent=1).encode() + b"\n")
start_bytes("carriage-return-only", HELLO + b"\r", timeout=1)
start_bytes("escape-sequences", b"\x1b[2J\x1b[31mhello\x1b[0m\x07\n")
for depth in (100, 400, 900, 950, 960, 970, 980, 990, 100_000):
    start_bytes(f"nested-{depth}", deep(depth) + b"\n")
    start_bytes(f"ops-nested-{depth}", HELLO.replace(b'["insert", "get", "exists"]', deep(depth)) + b"\n")
start_bytes("integer-of-5000-digits", HELLO.replace(b'"version": 1,', b'"version": ' + b"9" * 5000 + b",") + b"\n")
start_bytes("integer-of-4000-digits", HELLO.replace(b'"version": 1,', b'"version": ' + b"9" * 4000 + b",") + b"\n")
start_bytes("version-nan", HELLO.replace(b'"version": 1,', b'"version": NaN,') + b"\n")


@kind("never-speaks", 3, timeout=1)
def _(speaker: Speaker) -> None:
    speaker.serve = forever


@kind("dies-before-reading", 3)
def _(speaker: Speaker) -> None:
    speaker.serve = lambda: die(1)


@kind("speaks-stderr-then-dies", 3)
def _(speaker: Speaker) -> None:
    def instead() -> None:
        os.write(2, "Traceback (most recent call last):\n  File\nBoom: \x1b[31mred\u2028é\n\n".encode())
        die(1)

    speaker.on_start = instead


@kind("lacks-something", 3)
def _(speaker: Speaker) -> None:
    def instead() -> None:
        os.write(2, b"looking for java\njava is not on the path; install a JDK\n")
        die(4)

    speaker.on_start = instead


@kind("stderr-is-binary", 3)
def _(speaker: Speaker) -> None:
    def instead() -> None:
        os.write(2, bytes(range(256)) * 300)
        die(1)

    speaker.on_start = instead


@kind("closes-all-pipes", 3)
def _(speaker: Speaker) -> None:
    def instead() -> None:
        for descriptor in (0, 1, 2):
            os.close(descriptor)
        forever()

    speaker.on_start = instead


@kind("dies-but-a-child-keeps-stdout", 3, timeout=1)
def _(speaker: Speaker) -> None:
    def instead() -> None:
        child_keeps_output()
        die(1)

    speaker.on_start = instead


@kind("dies-but-a-daemon-keeps-stdout", 3, timeout=1)
def _(speaker: Speaker) -> None:
    def instead() -> None:
        child_keeps_output(own_session=True, seconds=2)
        die(1)

    speaker.on_start = instead
