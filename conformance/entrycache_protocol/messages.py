"""Text of subjects and files, made fit for messages: printable, short, and the part that names a cause.

`describe_value` formats a value for an error line. `extract_cause` finds the lines of a program's stderr that say why
it failed; the last line seldom does. For a panic of Rust or Go these are its first lines, for a Java trace the
innermost cause and its place, for a Python traceback the error and the line that raised it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final


def shorten(text: str, length: int) -> str:
    """Return the text, or its beginning and a mark that there is more."""
    return text if len(text) <= length else text[:length] + " .."


def escape_unprintable(text: str) -> str:
    """Escape every character that a terminal would not show as one character of one line."""
    return "".join(part if part.isprintable() else ascii(part)[1:-1] for part in text)


def describe_value(value: object, length: int = 80) -> str:
    """Format a value from a file for an error line; a value that Python cannot write out is named by its type."""
    try:
        return shorten(escape_unprintable(repr(value)), length)
    except (RecursionError, ValueError):
        return f"a value of type {type(value).__name__}"


MAX_LINE_LENGTH: Final = 300
MAX_LINES: Final = 4
"""The most lines of a cause."""

RUST: Final = re.compile(r"(thread '.*' )(?:\(\d+\) )?(panicked at )")
GO: Final = re.compile(r"(panic|fatal error): ")
JAVA: Final = re.compile(r"(Caused by: |Exception in thread \".*\" )")
JAVA_THROWN: Final = re.compile(r"([\w$]+\.)+[\w$]*(Exception|Error)\b")
JAVA_AT: Final = re.compile(r"\s+at ")
PYTHON: Final = "Traceback (most recent call last):"


def extract_cause(text: str) -> tuple[str, ...]:
    """Return the lines that name the cause of a failure, at most `MAX_LINES`, each printable and short.

    If there is neither a panic nor a trace, this is the last line.
    """
    lines = _nonempty_lines(text)
    return _clean_lines(_find_trace(lines) or lines[-1:])


def extract_thrown(text: str) -> tuple[str, ...]:
    """Return the same lines, or nothing if the text has neither a panic nor a trace."""
    return _clean_lines(_find_trace(_nonempty_lines(text)))


def _nonempty_lines(text: str) -> Sequence[str]:
    return [line.rstrip() for line in text.split("\n") if line.strip()]


def _find_trace(lines: Sequence[str]) -> Sequence[str]:
    return next((part for find in FINDERS if (part := find(lines))), ())


def _clean_lines(lines: Sequence[str]) -> tuple[str, ...]:
    return tuple(shorten(escape_unprintable(line.strip()), MAX_LINE_LENGTH) for line in lines[:MAX_LINES])


def _rust(lines: Sequence[str]) -> Sequence[str]:
    """Return the place and the message of the first panic, from which others follow.

    The number of the thread differs from process to process and is left out.
    """
    at = next((index for index, line in enumerate(lines) if RUST.match(line)), None)
    if at is None:
        return ()
    rest = enumerate(lines[at + 1 :], at + 1)
    end = next((index for index, line in rest if line.startswith(("stack backtrace:", "note: "))), len(lines))
    return [RUST.sub(r"\1\2", lines[at]), *lines[at + 1 : end]]


def _go(lines: Sequence[str]) -> Sequence[str]:
    """Return the panic, and the first frames of its goroutine."""
    at = next((index for index, line in enumerate(lines) if GO.match(line)), None)
    if at is None:
        return ()
    own = [line for line in lines[at + 1 :] if not line.startswith(("goroutine ", "[signal ", "panic(", "\t/usr/"))]
    return [lines[at], *own[:2]]


def _go_recovered(lines: Sequence[str]) -> Sequence[str]:
    """Return the first frame below a recovered panic that is not Go's own."""
    at = next((index for index in reversed(range(len(lines))) if lines[index].startswith("panic(")), None)
    if at is None or not any(line.startswith("goroutine ") for line in lines[:at]):
        return ()
    frames = [index for index in range(at + 1, len(lines)) if not lines[index].startswith(("\t", "runtime."))]
    return lines[frames[0] : frames[0] + 2] if frames else ()


def _java(lines: Sequence[str]) -> Sequence[str]:
    """Return the innermost cause with its first place; without causes, the exception that was thrown last."""
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
    """Return the error of the last traceback, with its place and the line that raised it."""
    at = next((index for index in reversed(range(len(lines))) if lines[index].strip() == PYTHON), None)
    if at is None:
        return ()
    deep = len(lines[at]) - len(lines[at].lstrip())
    end = next((i for i in range(at + 1, len(lines)) if len(lines[i]) - len(lines[i].lstrip()) <= deep), len(lines) - 1)
    frame = [line for line in lines[at + 1 : end] if set(line.strip()) - set("^~")]
    place = next((index for index in reversed(range(len(frame))) if frame[index].lstrip().startswith("File ")), 0)
    return [lines[end], *frame[place : place + 2]]


FINDERS: Final[tuple[Callable[[Sequence[str]], Sequence[str]], ...]] = (_rust, _go, _go_recovered, _java, _python)
