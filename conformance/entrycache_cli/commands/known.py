"""The options --known and --fix of `entrycache conform`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from entrycache_cli.commands.options import F
from entrycache_cli.ending import say
from entrycache_conformance.known.check import Checked, State
from entrycache_conformance.known.entry import Entry, read_known
from entrycache_conformance.known.run import KnownReport
from entrycache_protocol.errors import UsageError
from entrycache_protocol.shown import printable


def known_options(function: F) -> F:
    """--known and --fix."""
    for option in (
        click.option("--fix", is_flag=True, help="Rewrite the file of --known so that it is true."),
        click.option(
            "--known",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="Failures that are known (TOML): told, but no failure of the run.",
        ),
    ):
        function = option(function)
    return function


def entries_of(known: Path | None, fix: bool) -> tuple[Entry, ...]:
    """The known failures that a command line names, if any; a file to be made may not be there yet.

    Raises:
        UsageError: --fix without --known, or an unusable file.
    """
    if known is None:
        if fix:
            raise UsageError("--fix rewrites the file of --known; give --known FILE")
        return ()
    return () if fix and not known.exists() else read_known(known)


def to_json(known: KnownReport) -> dict[str, Any]:
    """What `--json` says more."""
    found = [entry.number for entry, _ in known.hits]
    return {"known": [_one(one, found.count(one.entry.number)) for one in known.checked]}


def _one(one: Checked, found: int) -> dict[str, Any]:
    entry = one.entry
    return {
        "rule": entry.rule,
        "subject": entry.subject,
        "versions": list(entry.versions),
        "state": one.state.value,
        "detail": one.detail,
        "found": found,
        "reason": entry.reason,
        "issue": entry.issue,
    }


def lines(known: KnownReport) -> list[str]:
    """What a person reads of the entries that fail as known."""
    said = []
    for one in known.checked:
        if one.state is State.FAILS:
            issue = f" ({one.entry.issue})" if one.entry.issue else ""
            said.append(printable(f"known: {one.line}: {one.entry.reason}{issue}"))
    elsewhere = sum(one.state is State.ANOTHER for one in known.checked)
    return [*said, f"known: {elsewhere} entries about other subjects"] if elsewhere else said


def say_problems(known: KnownReport, fixed: list[str] | None, code: int) -> int:
    """Tell on stderr what is wrong with the file, or what was done about it; the exit code of the run."""
    for line in known.problems if fixed is None else fixed:
        say(line)
    return 1 if known.problems and fixed is None else code
