"""The pages of the findings and the files beside them, for readers of an installed package.

A page names its finding, the releases on which it fails and those on which it holds. Its folder has a Java test that
stands alone, and mostly a case, a patch and the text of an issue. `read_part` returns one of these files; a Java test
can be had in the form of upstream's suite, and a patch with upstream's paths and lines of context.
"""

from __future__ import annotations

import difflib
import re
from pathlib import Path
from typing import Final, NamedTuple

from entrycache_conformance.finding_cases import findings_folder
from entrycache_conformance.java.upstream_form import fetch_sources, released_sources, upstream_form, upstream_patch
from entrycache_protocol.errors import UsageError
from entrycache_protocol.files import scratch_folder

PAGE: Final = "README.md"
JAVA: Final = ".java"
PATCH: Final = "fix.patch"
LOCK: Final = "jars.lock"
"""The checksums of jars that the findings use."""
OF_JUNIT: Final = ("kafka-", "bookkeeper-")
"""The beginning of the names of findings in Kafka Streams; the others are in Pulsar."""

_NEEDED_PATCH: Final = re.compile(r"\]\(\.\./([\w-]+)/fix\.patch\)")
"""A link, in the part of a page about its fix, to the fix of another finding that is applied first."""
_ROW: Final = re.compile(r"^\| ([A-Z][a-z ]+) \| (.*) \|$", re.MULTILINE)


class FindingPage(NamedTuple):
    """The head of a page: its name, title, tier, system, and the releases on which it fails and holds."""

    name: str
    title: str
    tier: str
    system: str
    fails_on: str
    holds_on: str
    files: tuple[str, ...]


def read_finding_pages() -> list[FindingPage]:
    """Read the heads of all pages, by name.

    Raises:
        UsageError: the findings are not there.
    """
    return [_read_head(path.parent) for path in sorted(findings_folder().glob(f"*/{PAGE}"))]


def _read_head(folder: Path) -> FindingPage:
    text = (folder / PAGE).read_text("utf-8")
    cells = dict(_ROW.findall(text))
    files = tuple(path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*")) if path.is_file())
    return FindingPage(
        name=folder.name,
        title=text.splitlines()[0].removeprefix("# "),
        tier=cells["Tier"],
        system=cells["System"],
        fails_on=cells["Fails on"],
        holds_on=cells["Holds on"],
        files=files,
    )


def read_part(name: str, file: str = PAGE, as_upstream: bool = False) -> str:
    """Return a file of a finding: its page, or a test, patch, case or issue text.

    Raises:
        UsageError: there is no such finding or file, or upstream has no form of the file although it is wanted.
        MissingPrerequisite: upstream's form of a patch needs Maven.
    """
    folder = findings_folder() / name
    names = [path.parent.name for path in sorted(findings_folder().glob(f"*/{PAGE}"))]
    if name not in names:
        near = difflib.get_close_matches(name, names, n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise UsageError(f"unknown finding {name!r}; {hint}`entrycache findings` lists them")
    files = _read_head(folder).files
    if file not in files:
        raise UsageError(f"{name} has no file {file!r}; expected one of {', '.join(files)}")
    if not as_upstream:
        return (folder / file).read_text("utf-8")
    if file == PATCH:
        return _upstream_patch(folder)
    if not file.endswith(JAVA):
        tests = ", ".join(each for each in files if each.endswith(JAVA) or each == PATCH)
        raise UsageError(f"{file} is no Java test and no patch; expected one of {tests}")
    return upstream_form((folder / file).read_text("utf-8"), name.startswith(OF_JUNIT))


def _upstream_patch(folder: Path) -> str:
    """Return the fix of a finding, and of those that it needs, as one patch of upstream's repository."""
    fix = re.search(r"^\*\*Fix\.\*\* (.*)$", (folder / PAGE).read_text("utf-8"), re.MULTILINE)
    needed = _NEEDED_PATCH.findall(fix[1]) if fix else []
    patches = [(folder.parent / name / PATCH).read_text("utf-8") for name in (*needed, folder.name)]
    sources = released_sources(folder.name)
    with scratch_folder() as scratch:
        jar = fetch_sources(sources, scratch, (folder.parent / LOCK).read_text("utf-8"))
        return upstream_patch(patches, sources, jar)
