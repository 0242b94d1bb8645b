"""Errors, verdicts and exit codes: how a command can end, and the text of its messages.

An `EntrycacheError` has a message of one line, which says what is wrong and what to do, and an exit code: 2 for wrong
usage or unusable input, 3 for a subject that does not speak the protocol, 4 for a missing tool or library. An
`InternalError` is an error of the suite itself (70). A `Verdict` is the result of a check, with exit code 0, 1 or 2.

`Interrupted` carries the partial result of a run that was stopped. `missing_extra` builds the error for a library that
an extra of this package brings, with the command that installs the extra here.

Text of subjects and files is made fit for messages: printable, short, and the part that names a cause.
`describe_value` formats a value for an error line. `extract_cause` finds the lines of a program's stderr that say why
it failed; the last line seldom does. For a panic of Rust or Go these are its first lines, for a Java trace the
innermost cause and its place, for a Python traceback the error and the line that raised it, for Node.js the error and
the first place that is not its own.
"""

import json
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, Final
from urllib.parse import unquote, urlsplit


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
NODE_END: Final = re.compile(r"Node\.js v\d")
NODE_ERROR: Final = re.compile(r"(Uncaught )?[A-Z][\w$.]*\b.*")
NODE_MARK: Final = re.compile(r"\s*\^+$")
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


def _node(lines: Sequence[str]) -> Sequence[str]:
    """Return the error that ended Node.js, and the first place that is not its own.

    Its last line is its version. A thrown value that is no error has no places; it follows the marked source line.
    """
    end = next((index for index in reversed(range(len(lines))) if NODE_END.match(lines[index])), None)
    if end is None:
        return ()
    start = next((index + 1 for index in reversed(range(end)) if NODE_END.match(lines[index])), 0)
    at = next((index for index in range(start + 1, end) if JAVA_AT.match(lines[index])), None)
    if at is None:
        mark = next((index for index in reversed(range(start, end)) if NODE_MARK.match(lines[index])), None)
        return () if mark is None else lines[mark + 1 : min(mark + 2, end)]
    head = next((index for index in reversed(range(start, at)) if NODE_ERROR.match(lines[index])), at - 1)
    own = [line for line in lines[at:end] if JAVA_AT.match(line) and "node:" not in line]
    return [lines[head], *own[:1]]


FINDERS: Final[tuple[Callable[[Sequence[str]], Sequence[str]], ...]] = (
    _rust,
    _go,
    _go_recovered,
    _node,
    _java,
    _python,
)


class EntrycacheError(Exception):
    """An error with a message for a person and an exit code for a script."""

    exit_code: ClassVar[int] = 2


class UsageError(EntrycacheError):
    """Wrong usage or unusable input (exit 2)."""

    exit_code = 2


class WriteError(UsageError):
    """A file could not be written (exit 2, after the results have been printed)."""


class BrokenSubject(EntrycacheError):
    """The implementation under test does not speak the protocol (exit 3)."""

    exit_code = 3


class BrokenAdapter(BrokenSubject):
    """The adapter itself cannot work here, for example because a library is missing; trying again cannot help."""


class RestartError(BrokenSubject):
    """The subject started once and does not start again (exit 3, unless a failure was found before)."""


class MissingPrerequisite(EntrycacheError):
    """A tool or library that the command needs is not installed (exit 4)."""

    exit_code = 4


class InternalError(AssertionError):
    """The suite contradicts itself: an error of ours, never the subject's (exit 70)."""


class Verdict(Enum):
    """The result of a check: the subject conforms, it violates a rule, or nothing was checked."""

    CONFORMS = "conforms"
    VIOLATES = "violates"
    NOTHING_CHECKED = "nothing-checked"

    @property
    def exit_code(self) -> int:
        """The exit code of a command with this verdict: 0 conforms, 1 violates, 2 nothing was checked."""
        return {Verdict.CONFORMS: 0, Verdict.VIOLATES: 1, Verdict.NOTHING_CHECKED: 2}[self]


def combine_verdicts(parts: Iterable[Verdict]) -> Verdict:
    """Return the verdict of several checks that all count.

    One violation is enough for `VIOLATES`. The result is `CONFORMS` if there is a check and every check conforms.
    """
    verdicts = set(parts)
    if Verdict.VIOLATES in verdicts:
        return Verdict.VIOLATES
    return Verdict.CONFORMS if verdicts == {Verdict.CONFORMS} else Verdict.NOTHING_CHECKED


def worst_verdict(parts: Iterable[Verdict]) -> Verdict:
    """Return the verdict of one rule that was checked in several places.

    One violation is enough for `VIOLATES`, and without one a single conforming place is enough for `CONFORMS`.
    """
    verdicts = set(parts)
    return next((one for one in (Verdict.VIOLATES, Verdict.CONFORMS) if one in verdicts), Verdict.NOTHING_CHECKED)


class Interrupted(KeyboardInterrupt):
    """A run was stopped; `partial_result` is its result as far as it was finished."""

    def __init__(self, partial_result: Any) -> None:
        super().__init__()
        self.partial_result = partial_result


@contextmanager
def keep_partial_result(partial_result: Callable[[], Any]) -> Iterator[None]:
    """Turn an interrupt of the block into `Interrupted`, with the result that `partial_result` returns.

    Raises:
        Interrupted: the block was stopped.
    """
    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted(partial_result()) from None


@contextmanager
def map_partial_result(change: Callable[[Any], Any]) -> Iterator[None]:
    """Change the partial result of an `Interrupted` that the block raises.

    Raises:
        Interrupted: the block was stopped.
    """
    try:
        yield
    except Interrupted as stopped:
        raise Interrupted(change(stopped.partial_result)) from None


def missing_extra(what: str, package: str, extra: str) -> MissingPrerequisite:
    """Return the error of a command or backend, `what`, that lacks a Python package of an extra."""
    return MissingPrerequisite(f"{what} needs the Python package {package}: {install_command(extra)}")


def import_matplotlib(extra: str) -> Any:
    """Import matplotlib, which only commands that draw pictures need.

    Raises:
        MissingPrerequisite: it is not installed; `extra` brings it.
    """
    try:
        import matplotlib  # noqa: PLC0415 - an extra
    except ImportError:
        raise missing_extra("the picture", "matplotlib", extra) from None
    return matplotlib


def install_command(extra: str) -> str:
    """Return the command line that adds an extra to this installation."""
    source = _installed_source()
    target = shlex.quote(f"{source['path']}[{extra}]" if source else f"entrycache[{extra}]")
    if source and not Path(source["path"]).exists():  # an image may not keep the sources that it was built from
        source, target = None, " ".join(map(shlex.quote, _extra_packages(extra)))
    if "pipx" in Path(sys.prefix).parts:
        return f"pipx install --force {target}"
    if Path(sys.prefix).parts[-3:-1] == ("uv", "tools"):
        return f"uv tool install --force {target}"
    if re.search(r"/uv/(archive|environments)-v\d+/", sys.prefix):  # uvx makes an environment for each run
        return f"uvx --from {target} entrycache"
    pip = "pip install" if find_spec("pip") is not None else f"uv pip install --python {shlex.quote(sys.executable)}"
    return f"{pip} {'-e ' if source and source['editable'] else ''}{target}"


def _extra_packages(extra: str) -> list[str]:
    """Return the packages of an extra, and those of the extras that it names."""
    from importlib.metadata import requires  # noqa: PLC0415 -- slow to import

    packages = []
    for line in requires("entrycache") or ():
        package, _, condition = line.partition(";")
        if re.search(rf"""extra == ['"]{re.escape(extra)}['"]""", condition) is not None:
            own = re.match(r"entrycache\[(.+)\]", package)
            packages += (
                [package.strip()]
                if own is None
                else [one for name in own[1].split(",") for one in _extra_packages(name)]
            )
    return packages


def _installed_source() -> dict[str, Any] | None:
    """Return the wheel or folder that this package was installed from (PEP 610), or None if it came from an index."""
    from importlib.metadata import PackageNotFoundError, distribution  # noqa: PLC0415 -- slow to import

    try:
        text = distribution("entrycache").read_text("direct_url.json")
    except PackageNotFoundError:
        return None
    origin = json.loads(text) if text else {}
    url = urlsplit(origin.get("url", ""))
    if url.scheme != "file":
        return None
    return {"path": unquote(url.path), "editable": origin.get("dir_info", {}).get("editable", False)}
