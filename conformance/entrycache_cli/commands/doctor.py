"""The command `entrycache doctor`: list the packages and tools that commands need, and how to install them."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from typing import Final, NamedTuple

import click
from rich.table import Table
from rich.text import Text

from entrycache_cli.commands.options import exits_with_code, json_option
from entrycache_cli.report.terminal import echo, make_console
from entrycache_conformance.java import build, releases
from entrycache_protocol.errors import MissingPrerequisite, install_command


class Prerequisite(NamedTuple):
    """A package or tool with its version, the commands that need it, and advice if it is missing."""

    what: str
    version: str | None
    needed_by: str
    advice: str


EXTRAS: Final = {
    "trace": "trace, audit --backend local",
    "spark": "audit --backend spark",
    "prove": "prove",
    "bench": "python -m entrycache_dev bench",
    "league": "policies",
    "spring": "share --config application.yml",
    "crosshair": "the backend crosshair of state machines",
    "docs": "make site",
}
"""The extras of the package with the commands that need them; `dev` is for work on the suite itself."""

REQUIRED: Final = re.compile(r"([\w.-]+).*;\s*extra == ['\"](\w+)['\"]")
TOOLS: Final = (
    ("java", "-version", "released jars, audit --backend spark, prove --profile long", "install a JDK, 17 or newer"),
    ("javac", "-version", "released jars (their driver is built on first use)", "install a JDK, 17 or newer"),
    ("mvn", "-version", "released jars (their driver is built on first use)", "install Maven"),
)


def prerequisites() -> Iterator[Prerequisite]:
    """Yield every package and tool with its version, if it is installed."""
    yield Prerequisite("python", sys.version.split()[0], "everything", "")
    for name, extra in _packages():
        advice = _extra(extra)
        try:
            yield Prerequisite(name, version(name), EXTRAS[extra], advice)
        except PackageNotFoundError:
            yield Prerequisite(name, None, EXTRAS[extra], advice)
    for name, flag, needed_by, advice in TOOLS:
        yield Prerequisite(name, _tool_version(name, flag), needed_by, advice)
    yield from _newer_javas()


def _extra(name: str) -> str:
    return f"extra {name}"


def _packages() -> Iterator[tuple[str, str]]:
    """Yield the packages of the extras, each with the first extra that has it."""
    listed_names = set()
    for extra in EXTRAS:
        for name in _packages_of(extra):
            if name not in listed_names:
                listed_names.add(name)
                yield name, extra


def _packages_of(extra: str) -> list[str]:
    """Return the packages of an extra, as the metadata of the installed package names them."""
    matches = [match for line in requires("entrycache") or () if (match := REQUIRED.match(line)) is not None]
    return [match[1] for match in matches if match[2] == extra and match[1] != "entrycache"]


def _newer_javas() -> Iterator[Prerequisite]:
    """Yield each newer Java that some releases need; it need not be on the path."""
    oldest = min(release.java for release in releases.all_releases())
    for java in sorted({release.java for release in releases.all_releases()} - {oldest}):
        names = ", ".join(release.subject for release in releases.all_releases() if release.java == java)
        try:
            version: str | None = f"{build.find_java(java).major}"
        except MissingPrerequisite:
            version = None
        advice = f"install a JDK, {java} or newer; JAVA_HOME may name it"
        yield Prerequisite(f"java {java}", version, names, advice)


def _tool_version(name: str, flag: str) -> str | None:
    path = shutil.which(name)
    if path is None:
        return None
    try:
        done = subprocess.run([path, flag], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    number = re.search(r"\d+(\.\d+)+", done.stdout + done.stderr)
    return number.group() if number else "there"


@click.command("doctor")
@json_option
@exits_with_code
def command(as_json: bool) -> int:
    """List the packages and tools that commands need. Exit 4: one of them is missing."""
    prerequisite_list = list(prerequisites())
    missing = [item for item in prerequisite_list if item.version is None]
    if as_json:
        echo(json.dumps({"schema": 1, "found": {item.what: item.version for item in prerequisite_list}}))
        return 4 if missing else 0
    table = Table(title="what the commands need", title_justify="left")
    for column in ("what", "found", "needed by", "to do"):
        table.add_column(column, overflow="fold")
    for item in prerequisite_list:
        cells = (item.what, item.version or "missing", item.needed_by, item.advice if item.version is None else "")
        table.add_row(*map(Text, cells))
    make_console().print(table)
    missing_names = {item.what for item in missing}
    for extra in (extra for extra in EXTRAS if not missing_names.isdisjoint(_packages_of(extra))):
        echo(f"{_extra(extra)}: {install_command(extra)}")
    return 4 if missing else 0
