"""Text from elsewhere as it can stand in a line: printable and short."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final


def shorten(text: str, length: int) -> str:
    """The text, or its beginning and a mark that there was more."""
    return text if len(text) <= length else text[:length] + " .."


def escape_unprintable(text: str) -> str:
    """The text with everything escaped that a terminal would not show as one character of one line."""
    return "".join(part if part.isprintable() else ascii(part)[1:-1] for part in text)


def describe_value(value: object, length: int = 80) -> str:
    """A value from a file, as an error names it; one that Python itself would not write out is told by its type."""
    try:
        return shorten(escape_unprintable(repr(value)), length)
    except (RecursionError, ValueError):
        return f"a value of type {type(value).__name__}"


# --- telling
# The part of what a program wrote to stderr that tells why it failed: its last line is seldom it.

MAX_LINE_LENGTH: Final = 300
MAX_LINES: Final = 4
"""Of the telling part."""

RUST: Final = re.compile(r"(thread '.*' )(?:\(\d+\) )?(panicked at )")
GO: Final = re.compile(r"(panic|fatal error): ")
JAVA: Final = re.compile(r"(Caused by: |Exception in thread \".*\" )")
JAVA_THROWN: Final = re.compile(r"([\w$]+\.)+[\w$]*(Exception|Error)\b")
JAVA_AT: Final = re.compile(r"\s+at ")
PYTHON: Final = "Traceback (most recent call last):"


def extract_cause(text: str) -> tuple[str, ...]:
    """At most `LINES_MOST` lines that tell the cause, each of them printable and short; the last line where none does.

    Of a panic of Rust or Go the first lines, of a Java trace the innermost cause and where it was thrown, of a Python
    traceback the error and the line that threw it.
    """
    lines = _nonempty_lines(text)
    return _clean_lines(_find_trace(lines) or lines[-1:])


def extract_thrown(text: str) -> tuple[str, ...]:
    """The same; nothing where no panic and no trace is in it."""
    return _clean_lines(_find_trace(_nonempty_lines(text)))


def _nonempty_lines(text: str) -> Sequence[str]:
    return [line.rstrip() for line in text.split("\n") if line.strip()]


def _find_trace(lines: Sequence[str]) -> Sequence[str]:
    return next((part for find in FINDERS if (part := find(lines))), ())


def _clean_lines(lines: Sequence[str]) -> tuple[str, ...]:
    return tuple(shorten(escape_unprintable(line.strip()), MAX_LINE_LENGTH) for line in lines[:MAX_LINES])


def _rust(lines: Sequence[str]) -> Sequence[str]:
    """The place and the message of the first panic: others follow from it. The number of the thread is another one in
    every process, and is left out."""
    at = next((index for index, line in enumerate(lines) if RUST.match(line)), None)
    if at is None:
        return ()
    rest = enumerate(lines[at + 1 :], at + 1)
    end = next((index for index, line in rest if line.startswith(("stack backtrace:", "note: "))), len(lines))
    return [RUST.sub(r"\1\2", lines[at]), *lines[at + 1 : end]]


def _go(lines: Sequence[str]) -> Sequence[str]:
    """The panic, and the first frames of the goroutine that it came from."""
    at = next((index for index, line in enumerate(lines) if GO.match(line)), None)
    if at is None:
        return ()
    own = [line for line in lines[at + 1 :] if not line.startswith(("goroutine ", "[signal ", "panic(", "\t/usr/"))]
    return [lines[at], *own[:2]]


def _go_recovered(lines: Sequence[str]) -> Sequence[str]:
    """Of a stack that was taken while a panic was recovered, the first frame below it that is not Go's own."""
    at = next((index for index in reversed(range(len(lines))) if lines[index].startswith("panic(")), None)
    if at is None or not any(line.startswith("goroutine ") for line in lines[:at]):
        return ()
    frames = [index for index in range(at + 1, len(lines)) if not lines[index].startswith(("\t", "runtime."))]
    return lines[frames[0] : frames[0] + 2] if frames else ()


def _java(lines: Sequence[str]) -> Sequence[str]:
    """The innermost cause with the first place in it; without causes, what was thrown last."""
    heads = [index for index, line in enumerate(lines) if JAVA.match(line.lstrip())]
    if not heads:
        traces = [at for at, line in enumerate(lines[1:]) if JAVA_AT.match(line) and JAVA_THROWN.match(lines[at])]
        heads = traces
    if not heads:
        return ()
    at = heads[-1]
    place = next((line for line in lines[at + 1 :] if JAVA_AT.match(line)), None)
    return [lines[at], *([] if place is None else [place])]


def _python(lines: Sequence[str]) -> Sequence[str]:
    """The error of the last traceback, after the place and the line that it came from."""
    at = next((index for index in reversed(range(len(lines))) if lines[index].strip() == PYTHON), None)
    if at is None:
        return ()
    deep = len(lines[at]) - len(lines[at].lstrip())
    end = next((i for i in range(at + 1, len(lines)) if len(lines[i]) - len(lines[i].lstrip()) <= deep), len(lines) - 1)
    frame = [line for line in lines[at + 1 : end] if set(line.strip()) - set("^~")]
    place = next((index for index in reversed(range(len(frame))) if frame[index].lstrip().startswith("File ")), 0)
    return [lines[end], *frame[place : place + 2]]


FINDERS: Final[tuple[Callable[[Sequence[str]], Sequence[str]], ...]] = (_rust, _go, _go_recovered, _java, _python)
