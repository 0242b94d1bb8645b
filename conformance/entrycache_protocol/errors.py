"""Errors that a user can cause or has to know of; each says in one line what is wrong and what to do."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from enum import Enum
from importlib.metadata import PackageNotFoundError, distribution, requires
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
    """A file could not be written (exit 2, after what was found has been said)."""


class BrokenSubject(EntrycacheError):
    """The implementation under test does not speak the protocol (exit 3)."""

    exit_code = 3


class RestartError(BrokenSubject):
    """It could be started once, and not again (exit 3, where nothing was found before)."""


class MissingPrerequisite(EntrycacheError):
    """A tool or library that this command needs is not there (exit 4)."""

    exit_code = 4


class InternalError(AssertionError):
    """The suite contradicts itself: an error of ours, never the subject's (exit 70)."""


# --- verdict
# What a check says of who was held to it, and what several of them say together.


class Verdict(Enum):
    """It conforms, it violates, or nothing was checked; `exit_code` is what a command ends with."""

    CONFORMS = "conforms"
    VIOLATES = "violates"
    NOTHING_CHECKED = "nothing-checked"

    @property
    def exit_code(self) -> int:
        """0 fine, 1 violations, 2 nothing was checked."""
        return {Verdict.CONFORMS: 0, Verdict.VIOLATES: 1, Verdict.NOTHING_CHECKED: 2}[self]


def combine_verdicts(parts: Iterable[Verdict]) -> Verdict:
    """The verdict of several: one violation is enough; it conforms where there are some and all of them do."""
    found = set(parts)
    if Verdict.VIOLATES in found:
        return Verdict.VIOLATES
    return Verdict.CONFORMS if found == {Verdict.CONFORMS} else Verdict.NOTHING_CHECKED


def worst_verdict(parts: Iterable[Verdict]) -> Verdict:
    """The verdict of one thing judged in several places: it conforms where it does in one, and violates in none."""
    found = set(parts)
    return next((one for one in (Verdict.VIOLATES, Verdict.CONFORMS) if one in found), Verdict.NOTHING_CHECKED)


# --- stopped
# What a run that is stopped has finished reaches whoever asked for it.


class Interrupted(KeyboardInterrupt):
    """A run was stopped; `so_far` is what it would have given, of what was finished."""

    def __init__(self, so_far: Any) -> None:
        super().__init__()
        self.so_far = so_far


@contextmanager
def keep_partial_result(so_far: Callable[[], Any]) -> Iterator[None]:
    """Where the block is stopped, ask what was finished, and let it go on up.

    Raises:
        Stopped: it was stopped.
    """
    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted(so_far()) from None


# --- extras
# What a user types to add an extra of the package: what works for the package as it was installed here.


def missing_extra(what: str, package: str, extra: str) -> MissingPrerequisite:
    """The error of `what`, a command or an engine, that lacks a Python package of an extra."""
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
    """The command line that adds an extra to this installation."""
    source = _installed_source()
    told = shlex.quote(f"{source['path']}[{extra}]" if source else f"entrycache[{extra}]")
    if source and not Path(source["path"]).exists():  # as in an image that does not keep what it was made from
        source, told = None, " ".join(map(shlex.quote, _extra_packages(extra)))
    if "pipx" in Path(sys.prefix).parts:
        return f"pipx install --force {told}"
    if Path(sys.prefix).parts[-3:-1] == ("uv", "tools"):
        return f"uv tool install --force {told}"
    if re.search(r"/uv/(archive|environments)-v\d+/", sys.prefix):  # of uvx, which makes one a run
        return f"uvx --from {told} entrycache"
    pip = "pip install" if find_spec("pip") is not None else f"uv pip install --python {shlex.quote(sys.executable)}"
    return f"{pip} {'-e ' if source and source['editable'] else ''}{told}"


def _extra_packages(extra: str) -> list[str]:
    """What an extra brings, and the extras that it names."""
    found = []
    for line in requires("entrycache") or ():
        package, _, condition = line.partition(";")
        if re.search(rf"""extra == ['"]{re.escape(extra)}['"]""", condition) is not None:
            own = re.match(r"entrycache\[(.+)\]", package)
            found += (
                [package.strip()]
                if own is None
                else [one for name in own[1].split(",") for one in _extra_packages(name)]
            )
    return found


def _installed_source() -> dict[str, Any] | None:
    """The wheel or the folder that this package was installed from (PEP 610); None: it came from an index."""
    try:
        text = distribution("entrycache").read_text("direct_url.json")
    except PackageNotFoundError:
        return None
    told = json.loads(text) if text else {}
    url = urlsplit(told.get("url", ""))
    if url.scheme != "file":
        return None
    return {"path": unquote(url.path), "editable": told.get("dir_info", {}).get("editable", False)}
