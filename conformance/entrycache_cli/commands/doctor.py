"""`entrycache doctor`."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import NamedTuple

import click
from rich.table import Table

from entrycache_cli.commands.options import ends_with_code, json_option
from entrycache_cli.report.terminal import console, echo


class Finding(NamedTuple):
    """One prerequisite: what was found, what needs it, and what to do where it is missing."""

    what: str
    found: str | None
    needed_by: str
    advice: str


PACKAGES = (
    ("pyarrow", "trace record, trace generate, audit", "pip install 'entrycache[trace]'"),
    ("duckdb", "audit --engine local", "pip install 'entrycache[trace]'"),
    ("pyspark", "audit --engine spark", "pip install 'entrycache[spark]'"),
    ("z3-solver", "prove", "pip install 'entrycache[prove]'"),
    ("crosshair-tool", "prove", "pip install 'entrycache[prove]'"),
    ("cachetools", "bench", "pip install 'entrycache[bench]'"),
)
TOOLS = (
    ("java", "-version", "released jars, audit --engine spark", "install a JDK, 17 or newer"),
    ("javac", "-version", "released jars (their driver is built on first use)", "install a JDK, 17 or newer"),
    ("mvn", "-version", "released jars (their driver is built on first use)", "install Maven"),
)


def findings() -> list[Finding]:
    """What is there and what is not."""
    found = [Finding("python", sys.version.split()[0], "everything", "")]
    for name, needed_by, advice in PACKAGES:
        try:
            found.append(Finding(name, version(name), needed_by, advice))
        except PackageNotFoundError:
            found.append(Finding(name, None, needed_by, advice))
    for name, flag, needed_by, advice in TOOLS:
        found.append(Finding(name, _tool_version(name, flag), needed_by, advice))
    return found


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
@ends_with_code
def command(as_json: bool) -> int:
    """Tell what this machine has of what the commands need. Exit 4 where something is missing."""
    found = findings()
    missing = [item for item in found if item.found is None]
    if as_json:
        echo(json.dumps({"schema": 1, "found": {item.what: item.found for item in found}}))
        return 4 if missing else 0
    table = Table(title="what the commands need", title_justify="left")
    for column in ("what", "found", "needed by", "to do"):
        table.add_column(column, overflow="fold")
    for item in found:
        table.add_row(item.what, item.found or "missing", item.needed_by, item.advice if item.found is None else "")
    console().print(table)
    return 4 if missing else 0
