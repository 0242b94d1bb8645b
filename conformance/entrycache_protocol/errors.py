"""Errors, verdicts and exit codes: how a command can end.

An `EntrycacheError` has a message of one line, which says what is wrong and what to do, and an exit code: 2 for wrong
usage or unusable input, 3 for a subject that does not speak the protocol, 4 for a missing tool or library. An
`InternalError` is an error of the suite itself (70). A `Verdict` is the result of a check, with exit code 0, 1 or 2.

`Interrupted` carries the partial result of a run that was stopped. `missing_extra` builds the error for a library that
an extra of this package brings, with the command that installs the extra here.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from enum import Enum
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import unquote, urlsplit


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
