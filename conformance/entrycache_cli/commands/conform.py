"""The options --known and --fix of `entrycache conform`."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from entrycache_cli.commands.exit_codes import print_error
from entrycache_cli.commands.options import (
    F,
    SecondsRange,
    choose_subject,
    exits_with_code,
    json_option,
    print_nothing_checked,
    subject_options,
)
from entrycache_cli.commands.report import ReportFiles, report_options
from entrycache_cli.commands.settings_file import config_for, given_settings, settings_options
from entrycache_cli.definition import definition_for
from entrycache_cli.report.content import add_metadata, broken_result, run_metadata
from entrycache_cli.report.run_text import print_run, print_run_briefly
from entrycache_cli.report.terminal import description_column, echo, make_console
from entrycache_conformance.finding_cases import load_finding_cases, select_finding_cases
from entrycache_conformance.known import (
    EntryCheck,
    EntryState,
    KnownFailure,
    KnownReport,
    conform_with_known,
    fix_file,
    read_known_failures,
)
from entrycache_conformance.levels import PROFILES, find_rule_levels, levels_of_rules, list_levels, select_levels
from entrycache_conformance.report import RunReport
from entrycache_conformance.resolve import SubjectChoice, resolve_subject
from entrycache_conformance.run import Notify, Options, conform, conform_to_rules, rule_order, seconds_since
from entrycache_conformance.subjects.wrappers import ValidatedSubject, lift_waivers, pin_settings
from entrycache_conformance.systems import SYSTEMS
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.errors import BrokenSubject, Interrupted, UsageError, WriteError
from entrycache_protocol.messages import escape_unprintable
from entrycache_protocol.subject import TestedSubject
from entrycache_protocol.system import AnySystem, system_named


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


def read_entries(known: Path | None, fix: bool) -> tuple[KnownFailure, ...]:
    """The known failures that a command line names, if any; a file to be made may not be there yet.

    Raises:
        UsageError: --fix without --known, or an unusable file.
    """
    if known is None:
        if fix:
            raise UsageError("--fix rewrites the file of --known; give --known FILE")
        return ()
    return () if fix and not known.exists() else read_known_failures(known)


def known_json(known: KnownReport) -> dict[str, Any]:
    """What `--json` says more."""
    found = [entry.number for entry, _ in known.hits]
    return {"known": [_known_entry_json(one, found.count(one.entry.number)) for one in known.checked]}


def _known_entry_json(one: EntryCheck, found: int) -> dict[str, Any]:
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


def known_lines(known: KnownReport) -> list[str]:
    """What a person reads of the entries that fail as known."""
    said = []
    for one in known.checked:
        if one.state is EntryState.FAILS:
            issue = f" ({one.entry.issue})" if one.entry.issue else ""
            said.append(escape_unprintable(f"known: {one.line}: {one.entry.reason}{issue}"))
    elsewhere = sum(one.state is EntryState.ANOTHER for one in known.checked)
    return [*said, f"known: {elsewhere} entries about other subjects"] if elsewhere else said


def print_problems(known: KnownReport, fixed: list[str] | None, code: int) -> int:
    """Tell on stderr what is wrong with the file, or what was done about it; the exit code of the run."""
    for line in known.problems if fixed is None else fixed:
        print_error(line)
    return 1 if known.problems and fixed is None else code


# --- rule_list
# `entrycache conform --list`: levels with their operations, and rules with the operations that they fire in.


def print_rule_list(
    declaration: Declaration | None, system: str | None, as_json: bool, asked: frozenset[str] = frozenset()
) -> int:
    """Print what can be asked of a subject, else of a system, else of all: of these rules, or of all.

    Raises:
        UsageError: there is no such system, or no such rule in it.
    """
    if declaration is not None:
        systems = [declaration.system]
    else:
        systems = list(SYSTEMS.values()) if system is None else [system_named(system, SYSTEMS)]
    told = {each.name: rules_by_level(each) for each in systems}
    if asked:
        told = _only_rules(told, asked)
    if as_json:
        echo(json.dumps({"schema": 1, "systems": told}))
        return 0
    offered = None if declaration is None else declaration.ops
    for name, levels in told.items():
        make_console().print(_rules_table(name, levels, offered))
    return 0


def rules_by_level(system: AnySystem) -> dict[str, Any]:
    """Of each level its own operations, and the rules that are met there first, with the operations they fire in."""
    found = find_rule_levels(system)
    return {
        level: {
            "ops": [name for name in system.ops if name in (system.own_ops(level) if level in system.levels else ())],
            "rules": {
                rule: {"ops": list(found[rule].ops)}
                for rule in sorted(found, key=rule_order)
                if found[rule].level == level
            },
        }
        for level in list_levels(system)
    }


def _only_rules(told: dict[str, dict[str, Any]], asked: frozenset[str]) -> dict[str, dict[str, Any]]:
    """These rules alone, with their levels and systems."""
    names = ", ".join(told)
    found = {}
    for name, levels in told.items():
        kept = {
            level: {**parts, "rules": {rule: met for rule, met in parts["rules"].items() if rule in asked}}
            for level, parts in levels.items()
            if asked & parts["rules"].keys()
        }
        if kept:
            found[name] = kept
    known = {rule for levels in found.values() for parts in levels.values() for rule in parts["rules"]}
    if lost := sorted(asked - known):
        raise UsageError(f"{names}: no level meets {', '.join(lost)}")
    return found


def _rules_table(name: str, levels: dict[str, Any], offered: frozenset[str] | None) -> Table:
    table = Table(title=Text(f"{name}: a rule needs one of the operations it fires in"), title_justify="left")
    for column in ("level", "rule", "fires in"):
        table.add_column(column, overflow="fold")
    for level, told in levels.items():
        table.add_row(Text(level, "bold"), "", Text(f"offers {', '.join(told['ops'])}" if told["ops"] else "histories"))
        for rule, met in told["rules"].items():
            lacks = offered is not None and met["ops"] and not offered & set(met["ops"])
            table.add_row("", Text(rule), Text(", ".join(met["ops"]) + (" (none is offered)" if lacks else "")))
    return table


# --- conform
# `entrycache conform`.

Result = TypeVar("Result")

SHRINKING: Final = "a failure is made shorter"


@click.command("conform")
@click.argument("subject", required=False)
@subject_options
@click.option("--level", "levels", multiple=True, metavar="L", help="A level (again for more); default: all.")
@click.option("--profile", type=click.Choice(list(PROFILES)), default="dev", show_default=True, help="How long to run.")
@click.option("--seed", type=int, default=0, show_default=True, help="The seed of all choices.")
@click.option(
    "--bulk",
    type=SecondsRange(min_open=False),
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
@exits_with_code
def command(
    subject: str | None, junit: Path | None, html: Path | None, lists: bool, as_json: bool, **kwargs: Any,
) -> int:  # fmt: skip
    """Hold SUBJECT to the rules, beside the reference.

    Exit 0: conforms; 1: violates; 2: wrong usage, or nothing was checked; 3: the subject is broken;
    4: something it needs is missing; 70: the suite contradicts itself, our error.
    """
    choice = choose_subject(subject, kwargs)
    way = Way(as_json, kwargs.pop("quiet"), ReportFiles({"junit": junit, "html": html}), [])
    try:
        if lists:
            return _print_list(choice, as_json, requested_rules(kwargs["rules"], kwargs["known"]))
        return _run(choice, way, **kwargs)
    except BrokenSubject as error:
        spoke = next(iter(way.heard), None)
        told = run_metadata(spoke, kwargs["profile"], kwargs["seed"], kwargs["bulk"])
        result = broken_result(choice, str(error), told, spoke)
        if as_json:
            echo(json.dumps(result))
        way.files.write([result])
        raise


def _print_list(choice: SubjectChoice, as_json: bool, asked: frozenset[str]) -> int:
    """What can be asked of a subject; of none, of a system, else of all; of these rules alone, where some are named."""
    if choice.name is None and choice.command is None:
        return print_rule_list(None, choice.system, as_json, asked)
    found = resolve_subject(choice)
    try:
        return print_rule_list(found.declaration, None, as_json, asked)
    finally:
        found.close()


def _run(
    choice: SubjectChoice, way: Way, *, levels: tuple[str, ...], profile: str, seed: int,
    bulk: float, validate: bool, failures: Path, unmask: tuple[str, ...], known: Path | None, fix: bool,
    rules: str | None, **kwargs: Any,
) -> int:  # fmt: skip
    asked = requested_rules(rules, known)
    entries = read_entries(known, fix)
    settings = given_settings(kwargs)
    begun = time.monotonic()
    found = resolve_subject(choice)
    way.heard.append(found)
    if validate:
        found = ValidatedSubject(found)
    knowing: KnownReport | None = None
    fixed: list[str] = []
    lost: list[str] = []
    told = run_metadata(found, profile, seed, bulk)
    try:
        cases = load_finding_cases(found.declaration.system) if unmask else {}
        normal = lift_waivers(found, unmask, cases) if unmask else found
        tested = normal if settings is None else pin_settings(normal, config_for(settings, found), settings.path)
        meeting = levels_meeting(found, asked)  # which refuses what is no rule
        chosen = select_levels(found.declaration, levels or meeting)
        options = Options(
            chosen, PROFILES[profile], seed, bulk, failures, select_finding_cases(cases, unmask), definition_for(tested)
        )
        if asked:
            report = _with_progress(found, way.as_json, lambda notify: conform_to_rules(tested, asked, options, notify))
        elif known is None:
            report = _with_progress(found, way.as_json, lambda notify: conform(tested, options, notify))
        else:
            where = known.parent
            knowing = _with_progress(
                found, way.as_json, lambda notify: conform_with_known(tested, options, entries, where, notify)
            )
            report = knowing.report
            try:
                fixed = fix_file(known, found, knowing) if fix else []
            except WriteError as error:
                lost.append(str(error))
    except Interrupted as stopped:
        if any(level.examples for level in stopped.so_far.levels.values()):
            _print_report(add_metadata(stopped.so_far, told, choice), way, "stopped", None)
        raise
    finally:
        found.close()
    told = replace(told, seconds=seconds_since(begun))
    _print_report(add_metadata(report, told, choice), way, "", knowing)
    if isinstance(found, ValidatedSubject) and not way.as_json:
        echo(f"{found.messages} messages held to their schemas")
    lost += [failure.unwritten for failure in report.failures if failure.unwritten]
    if lost:
        raise WriteError(lost[0])
    code = report.verdict.exit_code
    if knowing is not None:
        code = print_problems(knowing, fixed if fix else None, code)
    if code == 2:
        print_nothing_checked([f"{skip.what}: {skip.reason}" for skip in report.skipped])
    return code


def requested_rules(rules: str | None, known: Path | None) -> frozenset[str]:
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


def levels_meeting(subject: TestedSubject, asked: frozenset[str]) -> tuple[str, ...]:
    """The levels that a subject offers something of and that meet these rules; without rules none is chosen.

    Raises:
        UsageError: one of them is no rule of the subject's system, or none can be met with what it offers.
    """
    if not asked:
        return ()
    meeting = levels_of_rules(subject.declaration.system, sorted(asked))
    levels = tuple(level for level in select_levels(subject.declaration, ()) if level in meeting)
    if not levels:
        raise UsageError(f"{subject.name} offers no level that meets {', '.join(sorted(asked))}; see conform --list")
    return levels


class Way(NamedTuple):
    """How a report is told; `heard`: the subject, once it has answered `start`."""

    as_json: bool
    quiet: bool
    files: ReportFiles
    heard: list[TestedSubject]


def _print_report(report: RunReport, way: Way, run: str, knowing: KnownReport | None) -> None:
    """A report, with what has become of the known failures."""
    result = {**report.to_json(), **({} if knowing is None else known_json(knowing))}
    if way.as_json:
        echo(json.dumps(result))
    elif way.quiet:
        print_run_briefly(report)
    else:
        print_run(report, run)
        for line in () if knowing is None else known_lines(knowing):
            echo(line)
    way.files.write([result])


def _with_progress(subject: TestedSubject, quiet: bool, run: Callable[[Notify], Result]) -> Result:
    """What a run answers that tells how far it is."""
    out = make_console(stderr=True)
    if quiet or not out.is_terminal:
        return run(lambda level, done, wanted: None)
    columns = (description_column(), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=out, transient=True) as progress:
        tasks: dict[str, Any] = {}

        def notify(level: str, done: int, wanted: int) -> None:
            if level not in tasks:
                tasks[level] = progress.add_task(f"{subject.name}, level {level}", total=wanted)
            if not wanted:  # this may take longer than what led to it
                progress.update(tasks[level], total=None, description=f"{subject.name}, level {level}: {SHRINKING}")
                return
            progress.update(tasks[level], completed=done, total=max(wanted, done))

        return run(notify)
