"""`entrycache conform`."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn

from entrycache_cli.commands import known as known_failures
from entrycache_cli.commands.known import known_options
from entrycache_cli.commands.options import (
    Seconds,
    choice_of,
    ends_with_code,
    json_option,
    say_nothing_checked,
    subject_options,
)
from entrycache_cli.commands.rule_list import say_list
from entrycache_cli.commands.settings_file import config_for, given_settings, settings_options
from entrycache_cli.definition import definition_for
from entrycache_cli.report.about import about, broken, with_about
from entrycache_cli.report.file_options import Files, report_options
from entrycache_cli.report.run_text import show, show_briefly
from entrycache_cli.report.terminal import console, description, echo
from entrycache_conformance.asked_rules import conform_to
from entrycache_conformance.known.run import KnownReport, conform_knowing, fix_file
from entrycache_conformance.levels import asked_levels
from entrycache_conformance.own_cases import asked_cases, own_cases
from entrycache_conformance.profiles import PROFILES
from entrycache_conformance.report import RunReport
from entrycache_conformance.rule_levels import levels_with
from entrycache_conformance.run import Notify, Options, conform, since
from entrycache_conformance.subjects.narrowed import pinned, unmasked
from entrycache_conformance.subjects.resolve import Choice, resolve
from entrycache_conformance.subjects.validate import Validated
from entrycache_protocol.errors import BrokenSubject, Unwritten, UsageError
from entrycache_protocol.stopped import Stopped
from entrycache_protocol.subject import UnderTest

Result = TypeVar("Result")

SHORTENED: Final = "a failure is made shorter"


@click.command("conform")
@click.argument("subject", required=False)
@subject_options
@click.option("--level", "levels", multiple=True, metavar="L", help="A level (again for more); default: all.")
@click.option("--profile", type=click.Choice(list(PROFILES)), default="dev", show_default=True, help="How long to run.")
@click.option("--seed", type=int, default=0, show_default=True, help="The seed of all choices.")
@click.option(
    "--bulk",
    type=Seconds(min_open=False),
    default=0.0,
    metavar="SECONDS",
    help="Then seeded cases without a framework, a level, for that long.",
)
@click.option("--validate", is_flag=True, help="Hold each message to its JSON Schema (slow).")
@click.option(
    "--failures",
    type=click.Path(path_type=Path),
    default=Path("entrycache-failures"),
    show_default=True,
    metavar="DIR",
    help="Where case files of failures go.",
)
@click.option(
    "--unmask",
    multiple=True,
    metavar="FINDING",
    help="Hold the subject to the norm where it declares a limit or variant for this finding, and play the finding's "
    "own case first (again for more; all).",
)
@click.option(
    "--rules",
    metavar="R,..",
    help="Only these rules, at the levels that meet them: a failure counts that names one of them; behind others the "
    "search goes on without the operation that showed it.",
)
@click.option(
    "--list", "lists", is_flag=True, help="List levels, rules and the operations that they need; run nothing."
)
@known_options
@settings_options
@report_options
@click.option("-v", "--verbose", is_flag=True, help="Show what the subject writes to stderr, as it comes.")
@click.option("-q", "--quiet", is_flag=True, help="Show one line a failure and the verdict, no tables.")
@json_option
@ends_with_code
def command(
    subject: str | None, junit: Path | None, html: Path | None, lists: bool, as_json: bool, **kwargs: Any,
) -> int:  # fmt: skip
    """Hold SUBJECT to the rules, beside the reference.

    Exit 0: conforms; 1: violates; 2: wrong usage, or nothing was checked; 3: the subject is broken;
    4: something it needs is missing; 70: the suite contradicts itself, our error.
    """
    choice = choice_of(subject, kwargs)
    way = Way(as_json, kwargs.pop("quiet"), Files({"junit": junit, "html": html}), [])
    try:
        if lists:
            return _list(choice, as_json, rules_asked(kwargs["rules"], kwargs["known"]))
        return _run(choice, way, **kwargs)
    except BrokenSubject as error:
        spoke = next(iter(way.heard), None)
        told = about(spoke, kwargs["profile"], kwargs["seed"], kwargs["bulk"])
        result = broken(choice, str(error), told, spoke)
        if as_json:
            echo(json.dumps(result))
        way.files.write([result])
        raise


def _list(choice: Choice, as_json: bool, asked: frozenset[str]) -> int:
    """What can be asked of a subject; of none, of a system, else of all; of these rules alone, where some are named."""
    if choice.name is None and choice.command is None:
        return say_list(None, choice.system, as_json, asked)
    found = resolve(choice)
    try:
        return say_list(found.declaration, None, as_json, asked)
    finally:
        found.close()


def _run(
    choice: Choice, way: Way, *, levels: tuple[str, ...], profile: str, seed: int,
    bulk: float, validate: bool, failures: Path, unmask: tuple[str, ...], known: Path | None, fix: bool,
    rules: str | None, **kwargs: Any,
) -> int:  # fmt: skip
    asked = rules_asked(rules, known)
    entries = known_failures.entries_of(known, fix)
    settings = given_settings(kwargs)
    begun = time.monotonic()
    found = resolve(choice)
    way.heard.append(found)
    if validate:
        found = Validated(found)
    knowing: KnownReport | None = None
    fixed: list[str] = []
    lost: list[str] = []
    told = about(found, profile, seed, bulk)
    try:
        cases = own_cases(found.declaration.system) if unmask else {}
        normal = unmasked(found, unmask, cases) if unmask else found
        tested = normal if settings is None else pinned(normal, config_for(settings, found), settings.path)
        meeting = levels_of(found, asked)  # which refuses what is no rule
        chosen = asked_levels(found.declaration, levels or meeting)
        options = Options(
            chosen, PROFILES[profile], seed, bulk, failures, asked_cases(cases, unmask), definition_for(tested)
        )
        if asked:
            report = _with_progress(found, way.as_json, lambda notify: conform_to(tested, asked, options, notify))
        elif known is None:
            report = _with_progress(found, way.as_json, lambda notify: conform(tested, options, notify))
        else:
            where = known.parent
            knowing = _with_progress(
                found, way.as_json, lambda notify: conform_knowing(tested, options, entries, where, notify)
            )
            report = knowing.report
            try:
                fixed = fix_file(known, found, knowing) if fix else []
            except Unwritten as error:
                lost.append(str(error))
    except Stopped as stopped:
        if any(level.examples for level in stopped.so_far.levels.values()):
            _say(with_about(stopped.so_far, told, choice), way, "stopped", None)
        raise
    finally:
        found.close()
    told = replace(told, seconds=since(begun))
    _say(with_about(report, told, choice), way, "", knowing)
    if isinstance(found, Validated) and not way.as_json:
        echo(f"{found.messages} messages held to their schemas")
    lost += [failure.unwritten for failure in report.failures if failure.unwritten]
    if lost:
        raise Unwritten(lost[0])
    code = report.verdict.exit_code
    if knowing is not None:
        code = known_failures.say_problems(knowing, fixed if fix else None, code)
    if code == 2:
        say_nothing_checked([f"{skip.what}: {skip.reason}" for skip in report.skipped])
    return code


def rules_asked(rules: str | None, known: Path | None) -> frozenset[str]:
    """The rules that a command line asks for; none: all.

    Raises:
        UsageError: the option is empty, or does not go with another one.
    """
    if rules is None:
        return frozenset()
    if known is not None:
        raise UsageError("--rules and --known do not go together")
    asked = frozenset(rule for part in rules.split(",") if (rule := part.strip()))
    if not asked:
        raise UsageError("--rules is empty; expected ids of rules such as R-EVICT-8, with commas")
    return asked


def levels_of(subject: UnderTest, asked: frozenset[str]) -> tuple[str, ...]:
    """The levels that a subject offers something of and that meet these rules; without rules none is chosen.

    Raises:
        UsageError: one of them is no rule of the subject's system, or none can be met with what it offers.
    """
    if not asked:
        return ()
    meeting = levels_with(subject.declaration.system, sorted(asked))
    levels = tuple(level for level in asked_levels(subject.declaration, ()) if level in meeting)
    if not levels:
        raise UsageError(f"{subject.name} offers no level that meets {', '.join(sorted(asked))}; see conform --list")
    return levels


class Way(NamedTuple):
    """How a report is told; `heard`: the subject, once it has answered `start`."""

    as_json: bool
    quiet: bool
    files: Files
    heard: list[UnderTest]


def _say(report: RunReport, way: Way, run: str, knowing: KnownReport | None) -> None:
    """A report, with what has become of the known failures."""
    result = {**report.to_json(), **({} if knowing is None else known_failures.to_json(knowing))}
    if way.as_json:
        echo(json.dumps(result))
    elif way.quiet:
        show_briefly(report)
    else:
        show(report, run)
        for line in () if knowing is None else known_failures.lines(knowing):
            echo(line)
    way.files.write([result])


def _with_progress(subject: UnderTest, quiet: bool, run: Callable[[Notify], Result]) -> Result:
    """What a run answers that tells how far it is."""
    out = console(stderr=True)
    if quiet or not out.is_terminal:
        return run(lambda level, done, wanted: None)
    columns = (description(), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=out, transient=True) as progress:
        tasks: dict[str, Any] = {}

        def notify(level: str, done: int, wanted: int) -> None:
            if level not in tasks:
                tasks[level] = progress.add_task(f"{subject.name}, level {level}", total=wanted)
            if not wanted:  # this may take longer than what led to it
                progress.update(tasks[level], total=None, description=f"{subject.name}, level {level}: {SHORTENED}")
                return
            progress.update(tasks[level], completed=done, total=max(wanted, done))

        return run(notify)
