"""The command `entrycache conform`: check a subject against the rules by comparing it with the reference.

`command` resolves the subject, selects levels and rules, and calls `entrycache_conformance`: `conform` for all rules,
`conform_to_rules` for some, `conform_with_known` if a file lists known failures. The report that comes back is printed
as tables, one line a failure, or JSON, and written as JUnit XML or HTML. `--list` prints levels, operations and rules
and runs nothing.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Collection
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
    GivenSettings,
    ReportFiles,
    SecondsRange,
    choose_subject,
    close_subject,
    config_for,
    definition_for,
    exits_with_code,
    given_settings,
    json_option,
    print_nothing_checked,
    report_options,
    settings_options,
    subject_options,
)
from entrycache_cli.report import content, run_text, terminal
from entrycache_conformance import finding_cases, resolve
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
from entrycache_conformance.report import RunReport, rule_order, seconds_since
from entrycache_conformance.run import Notify, Options, conform, conform_to_rules
from entrycache_conformance.subjects.wrappers import ValidatedSubject, lift_waivers, pin_settings
from entrycache_conformance.systems import SYSTEMS
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.errors import BrokenSubject, Interrupted, UsageError, WriteError, escape_unprintable, shorten
from entrycache_protocol.strict_json import seal_json
from entrycache_protocol.subject import TestedSubject
from entrycache_protocol.system import AnySystem, system_named


def known_options(function: F) -> F:
    """Add --known and --fix to a command."""
    for option in (
        click.option("--fix", is_flag=True, help="Update the file of --known to the failures of this run."),
        click.option(
            "--known",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="Known failures (TOML): they are reported and do not fail the run.",
        ),
    ):
        function = option(function)
    return function


def read_entries(known: Path | None, fix: bool) -> tuple[KnownFailure, ...]:
    """Read the known failures that a command line names, if any; with --fix the file may not exist yet.

    Raises:
        UsageError: --fix is given without --known, or the file is unusable.
    """
    if known is None:
        if fix:
            raise UsageError("--fix rewrites the file of --known; give --known FILE")
        return ()
    return () if fix and not known.exists() else read_known_failures(known)


def known_json(known: KnownReport) -> dict[str, Any]:
    """Return what `--json` adds about known failures."""
    return {"known": [_known_entry_json(one, count) for one, count in zip(known.checked, known.counts, strict=True)]}


def _known_entry_json(one: EntryCheck, number: int) -> dict[str, Any]:
    entry = one.entry
    return {
        "rule": entry.rule,
        "subject": entry.subject,
        "versions": list(entry.versions),
        "state": one.state.value,
        "detail": one.detail,
        "found": number,
        "reason": entry.reason,
        "issue": entry.issue,
    }


def known_lines(known: KnownReport) -> list[str]:
    """Return the lines about the entries that fail as known."""
    lines = []
    for one in known.checked:
        if one.state is EntryState.FAILS:
            issue = f" ({one.entry.issue})" if one.entry.issue else ""
            lines.append(escape_unprintable(f"known: {one.line}: {one.entry.reason}{issue}"))
    others = sum(one.state is EntryState.ANOTHER for one in known.checked)
    return [*lines, f"known: {others} entries about other subjects"] if others else lines


def print_problems(known: KnownReport, fixed: list[str] | None, code: int) -> int:
    """Print the problems of the file, or the fixes made to it, on stderr; return the exit code of the run."""
    for line in known.problems if fixed is None else fixed:
        print_error(line)
    return 1 if known.problems and fixed is None else code


def print_rule_list(
    declaration: Declaration | None, system: str | None, as_json: bool, requested: frozenset[str] = frozenset(),
    only_levels: tuple[str, ...] = (),
) -> int:  # fmt: skip
    """Print the levels, rules and operations of one subject, one system or all systems, optionally for some rules or
    levels only.

    Raises:
        UsageError: there is no such system, no such level, or no such rule in it.
    """
    if declaration is not None:
        systems = [declaration.system]
    else:
        systems = list(SYSTEMS.values()) if system is None else [system_named(system, SYSTEMS)]
    levels_by_system = {each.name: rules_by_level(each) for each in systems}
    if only_levels:
        levels_by_system = _only_levels(levels_by_system, only_levels)
    if requested:
        levels_by_system = _only_rules(levels_by_system, requested)
    if as_json:
        terminal.echo(json.dumps({"schema": 1, "systems": levels_by_system}))
        return 0
    offered = None if declaration is None else declaration.ops
    for name, levels in levels_by_system.items():
        terminal.make_console().print(_rules_table(name, levels, offered))
    return 0


def rules_by_level(system: AnySystem) -> dict[str, Any]:
    """Return for each level its own operations and the rules that are first checked there, with their operations."""
    rule_levels = find_rule_levels(system)
    return {
        level: {
            "ops": [name for name in system.ops if name in (system.own_ops(level) if level in system.levels else ())],
            "rules": {
                rule: {"ops": list(rule_levels[rule].ops)}
                for rule in sorted(rule_levels, key=rule_order)
                if rule_levels[rule].level == level
            },
        }
        for level in list_levels(system)
    }


def _only_levels(levels_by_system: dict[str, dict[str, Any]], requested: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """Keep only the requested levels, and the systems that have one of them.

    Raises:
        UsageError: no system has one of them.
    """
    known = dict.fromkeys(level for levels in levels_by_system.values() for level in levels)
    if unknown := [level for level in requested if level not in known]:
        raise UsageError(f"unknown level {unknown[0]!r}; expected one of: {', '.join(known)}")
    kept_systems = {
        name: {level: parts for level, parts in levels.items() if level in requested}
        for name, levels in levels_by_system.items()
    }
    return {name: kept for name, kept in kept_systems.items() if kept}


def _only_rules(levels_by_system: dict[str, dict[str, Any]], requested: frozenset[str]) -> dict[str, dict[str, Any]]:
    """Keep only the requested rules, with their levels and systems.

    Raises:
        UsageError: no level checks one of them.
    """
    names = ", ".join(levels_by_system)
    kept_systems = {}
    for name, levels in levels_by_system.items():
        kept = {
            level: {
                **parts,
                "rules": {rule: rule_entry for rule, rule_entry in parts["rules"].items() if rule in requested},
            }
            for level, parts in levels.items()
            if requested & parts["rules"].keys()
        }
        if kept:
            kept_systems[name] = kept
    known = {rule for levels in kept_systems.values() for parts in levels.values() for rule in parts["rules"]}
    if unknown := sorted(requested - known):
        raise UsageError(f"{names}: no level meets {', '.join(unknown)}")
    return kept_systems


def _rules_table(name: str, levels: dict[str, Any], offered: frozenset[str] | None) -> Table:
    table = Table(title=Text(f"{name}: a rule needs one of the operations it fires in"), title_justify="left")
    for column in ("level", "rule", "fires in"):
        table.add_column(column, overflow="fold")
    for level, entries in levels.items():
        table.add_row(
            Text(level, "bold"), "", Text(f"offers {', '.join(entries['ops'])}" if entries["ops"] else "histories")
        )
        for rule, rule_entry in entries["rules"].items():
            is_missing = offered is not None and rule_entry["ops"] and not offered & set(rule_entry["ops"])
            table.add_row(
                "", Text(rule), Text(", ".join(rule_entry["ops"]) + (" (none is offered)" if is_missing else ""))
            )
    return table


Result = TypeVar("Result")

MAX_REASON: Final = 60
"""The most characters of a reason in the line of -q."""

PROGRESS_SECONDS: Final = 10.0
"""The time between two lines about the progress of a failure if stderr is no terminal."""

SEARCH_PROGRESS_SECONDS: Final = 30.0
"""The time between two lines about the progress of a search if stderr is no terminal."""


@click.command("conform")
@click.argument("subject", required=False)
@subject_options
@click.option("--level", "levels", multiple=True, metavar="L", help="A level (repeatable; default: all).")
@click.option("--profile", type=click.Choice(list(PROFILES)), default="dev", show_default=True, help="How long to run.")
@click.option("--seed", type=int, default=0, show_default=True, help="The seed of all choices.")
@click.option(
    "--bulk",
    type=SecondsRange(min_open=False),
    default=0.0,
    metavar="SECONDS",
    help="After the search, run further random cases for SECONDS per level. All their answers are judged; rules are "
    "counted, and the reference checks its own laws, at one step in 16, at the last of each run and in failing runs.",
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="The number of processes that --bulk uses (default: one for each processor). It changes no result.",
)
@click.option("--validate", is_flag=True, help="Check each message against its JSON Schema (slow).")
@click.option(
    "--failures",
    type=click.Path(path_type=Path),
    default=Path("entrycache-failures"),
    show_default=True,
    metavar="DIR",
    help="The folder for case files of failures.",
)
@click.option(
    "--unmask",
    multiple=True,
    metavar="FINDING",
    help="Apply the default behaviour where the subject declares a limit or variant for this finding, and play the "
    "finding's own case first (repeatable; `all`).",
)
@click.option(
    "--rules",
    metavar="R,..",
    help="Check only these rules, at the levels that check them. After a failure of another rule the search continues "
    "without the operation that showed it.",
)
@click.option("--list", "lists", is_flag=True, help="List levels, rules and their operations; run nothing.")
@known_options
@settings_options
@report_options
@click.option("-v", "--verbose", is_flag=True, help="Show what the subject writes to stderr as it comes.")
@click.option("-q", "--quiet", is_flag=True, help="Show one line for each failure and the verdict, no tables.")
@json_option
@exits_with_code
def command(
    subject: str | None, junit: Path | None, html: Path | None, lists: bool, as_json: bool, **kwargs: Any,
) -> int:  # fmt: skip
    """Check SUBJECT against the rules by comparing it with the reference.

    Exit 0: conforms; 1: violates; 2: wrong usage, or nothing was checked; 3: the subject is broken;
    4: a prerequisite is missing; 70: an internal error of entrycache.
    """
    choice = choose_subject(subject, kwargs)
    output = Output(as_json, kwargs.pop("quiet"), ReportFiles({"junit": junit, "html": html}), [])
    try:
        if lists:
            requested = requested_rules(kwargs["rules"], kwargs["known"])
            return _print_list(choice, as_json, requested, kwargs["levels"])
        return _run(choice, output, **kwargs)
    except BrokenSubject as error:
        subject_seen = next(iter(output.subjects), None)
        metadata = content.run_metadata(subject_seen, kwargs["profile"], kwargs["seed"], kwargs["bulk"])
        result = seal_json(content.broken_result(choice, str(error), metadata, subject_seen))
        if as_json:
            terminal.echo(json.dumps(result))
        output.files.write([result])
        raise


def _print_list(
    choice: resolve.SubjectChoice, as_json: bool, requested: frozenset[str], levels: tuple[str, ...]
) -> int:
    """Print what can be tested on a subject or a system; without either, on all systems."""
    if choice.name is None and choice.command is None:
        return print_rule_list(None, choice.system, as_json, requested, levels)
    subject = resolve.resolve_subject(choice)
    try:
        return print_rule_list(subject.declaration, None, as_json, requested, levels)
    finally:
        subject.close()


def _run(
    choice: resolve.SubjectChoice, output: Output, *, levels: tuple[str, ...], profile: str, seed: int,
    bulk: float, jobs: int | None, validate: bool, failures: Path, unmask: tuple[str, ...], known: Path | None,
    fix: bool, rules: str | None, **kwargs: Any,
) -> int:  # fmt: skip
    requested = requested_rules(rules, known)
    entries = read_entries(known, fix)
    settings = given_settings(kwargs)
    started_at = time.monotonic()
    output.subjects.append(resolve.resolve_subject(choice))
    subject = ValidatedSubject(output.subjects[0]) if validate else output.subjects[0]
    known_report: KnownReport | None = None
    fixed, unwritten = list[str](), list[str]()
    metadata = content.run_metadata(subject, profile, seed, bulk)
    repaired: tuple[str, ...] = ()
    try:
        cases = finding_cases.load_finding_cases(subject.declaration.system) if unmask else {}
        repaired = finding_cases.find_repaired(subject) if choice.classpath else repaired
        tested = _narrow(subject, (*unmask, *repaired), cases, settings)
        chosen = _choose_levels(subject, levels, requested)
        options = Options(
            chosen, PROFILES[profile], seed, bulk, failures,
            finding_cases.select_finding_cases(cases, unmask) if unmask else (), definition_for(tested),
            jobs=1 if validate else jobs or count_processors(),
        )  # fmt: skip
        if requested:
            report = _with_progress(
                subject, output.as_json, lambda notify: conform_to_rules(tested, requested, options, notify)
            )
        elif known is None:
            report = _with_progress(subject, output.as_json, lambda notify: conform(tested, options, notify))
        else:
            where = known.parent
            known_report = _with_progress(
                subject, output.as_json, lambda notify: conform_with_known(tested, options, entries, where, notify)
            )
            report = known_report.report
            try:
                fixed = fix_file(known, subject, known_report) if fix else []
            except WriteError as error:
                unwritten.append(str(error))
    except Interrupted as stopped:
        partial = replace(stopped.partial_result, repaired=repaired)
        if partial.failures or any(level.examples for level in partial.levels.values()):
            _print_report(
                content.add_metadata(partial, metadata, choice, (*unmask, *repaired)), output, "stopped", None
            )
        raise
    finally:
        close_subject(subject)
    metadata = replace(metadata, seconds=seconds_since(started_at))
    described = content.add_metadata(replace(report, repaired=repaired), metadata, choice, (*unmask, *repaired))
    _print_report(described, output, "", known_report)
    if isinstance(subject, ValidatedSubject) and not output.as_json:
        terminal.echo(f"{subject.messages} messages checked against their schemas")
    unwritten += [failure.unwritten for failure in report.failures if failure.unwritten]
    if unwritten:
        raise WriteError(unwritten[0])
    code = report.verdict.exit_code
    if known_report is not None:
        code = print_problems(known_report, fixed if fix else None, code)
    if code == 2:
        print_nothing_checked([f"{skip.what}: {skip.reason}" for skip in report.skipped])
    return code


def count_processors() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _narrow(
    subject: TestedSubject, lifted: tuple[str, ...], cases: Collection[str], settings: GivenSettings | None
) -> TestedSubject:
    """Return the subject without the waivers of these findings, and with the settings of a file if one was given.

    If cases were requested, say on stderr which other findings belong together with these.
    """
    for sentence in finding_cases.explain_related(lifted) if cases else ():
        terminal.echo(f"entrycache: {sentence}", err=True)
    normal = lift_waivers(subject, lifted, cases) if lifted else subject
    return normal if settings is None else pin_settings(normal, config_for(settings, subject), settings.path)


def requested_rules(rules: str | None, known: Path | None) -> frozenset[str]:
    """Return the rules that a command line asks for; return an empty set for all rules.

    Raises:
        UsageError: the option is empty, or another option excludes it.
    """
    if rules is None:
        return frozenset()
    if known is not None:
        raise UsageError("--rules and --known do not go together")
    requested = frozenset(rule for part in rules.split(",") if (rule := part.strip()))
    if not requested:
        raise UsageError("--rules is empty; expected ids of rules such as R-EVICT-8, with commas")
    return requested


def _choose_levels(subject: TestedSubject, levels: tuple[str, ...], requested: frozenset[str]) -> tuple[str, ...]:
    """Return the levels to judge. An unknown rule is refused even if the levels are given."""
    meeting = levels_meeting(subject, requested)
    return select_levels(subject.declaration, levels or meeting)


def levels_meeting(subject: TestedSubject, requested: frozenset[str]) -> tuple[str, ...]:
    """Return the levels that check these rules and that the subject offers; without rules, return no level.

    Raises:
        UsageError: a rule is not one of the subject's system, or the subject offers nothing that checks it.
    """
    if not requested:
        return ()
    meeting = levels_of_rules(subject.declaration.system, sorted(requested))
    levels = tuple(level for level in select_levels(subject.declaration, ()) if level in meeting)
    if not levels:
        raise UsageError(
            f"{subject.name} offers no level that meets {', '.join(sorted(requested))}; see conform --list"
        )
    return levels


class Output(NamedTuple):
    """The options of a report's output; `subjects` holds the subject once it has answered `start`."""

    as_json: bool
    quiet: bool
    files: ReportFiles
    subjects: list[TestedSubject]


def _print_report(report: RunReport, output: Output, run: str, known_report: KnownReport | None) -> None:
    """Print a report and the states of the known failures, and write the requested files."""
    result = seal_json({**report.to_json(), **({} if known_report is None else known_json(known_report))})
    if output.as_json:
        terminal.echo(json.dumps(result))
    elif output.quiet:
        print_briefly(report)
    else:
        run_text.print_run(report, run)
        for line in () if known_report is None else known_lines(known_report):
            terminal.echo(line)
    output.files.write([result])


def print_briefly(report: RunReport) -> None:
    """Print a line for each failure, and the verdict of each level."""
    out = terminal.make_console()
    for distinct in content.deduplicate(report.failures):
        failure = distinct.failure
        place = f"step {failure.step}, level {failure.level}"
        out.print(
            escape_unprintable(f"{', '.join(failure.rules)} at {place}: {failure.replay or 'no case file'}"),
            soft_wrap=True,
        )
    levels = ", ".join(f"{name} {level.verdict.value}" for name, level in report.levels.items())
    exceptions = [f"{one.kind} {one.what}" for one in report.exceptions]
    exceptions += [f"skipped {skip.what} ({shorten(skip.reason, MAX_REASON)})" for skip in report.other_skipped]
    rest = f"; except {'; '.join(exceptions)}" if exceptions else ""
    if text := content.undetectable_text(report):
        rest += f"; {text}"
    rest += content.given_text(report)
    out.print(escape_unprintable(f"{report.subject}: {report.headline} ({levels}){rest}"), soft_wrap=True)


class _ProgressLines:
    """The progress as lines on stderr: of a failure, which may take as long as the search, and of a slow search."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._notified_at = self._printed_at = time.monotonic()

    def notify(self, level: str, done: int, wanted: int, activity: str = "", /) -> None:
        """Print what is done, unless a line was printed, or a search has become an activity, a moment ago."""
        now = time.monotonic()
        text, since, seconds = activity, max(self._notified_at, self._printed_at), PROGRESS_SECONDS
        if not activity:
            self._notified_at = now
            runs = f"{done} of {wanted} runs" if done <= wanted else f"{done} runs, until each rule has fired enough"
            text, since, seconds = runs, self._printed_at, SEARCH_PROGRESS_SECONDS
        if now - since >= seconds and (activity or wanted):
            self._printed_at = now
            terminal.echo(f"{self._name}, level {level}: {text}", err=True)


def _with_progress(subject: TestedSubject, as_json: bool, run: Callable[[Notify], Result]) -> Result:
    """Run something that reports its progress, on stderr; return its result. A terminal shows a progress bar."""
    out = terminal.make_console(stderr=True)
    if as_json or not out.is_terminal:
        return run(_ProgressLines(subject.name).notify)
    columns = (terminal.description_column(), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=out, transient=True) as progress:
        tasks: dict[str, Any] = {}

        def notify(level: str, done: int, wanted: int, activity: str = "", /) -> None:
            if level not in tasks:
                tasks[level] = progress.add_task(f"{subject.name}, level {level}", total=wanted)
            name = f"{subject.name}, level {level}"
            if activity:  # this may take longer than the run before it
                progress.update(tasks[level], total=None, description=f"{name}: {activity}")
            elif wanted:
                progress.update(tasks[level], completed=done, total=max(wanted, done), description=name)

        return run(notify)
