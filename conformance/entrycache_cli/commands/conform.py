"""`entrycache conform`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from entrycache_cli.commands import known as known_failures
from entrycache_cli.commands.known import known_options
from entrycache_cli.commands.options import choice_of, ends_with_code, json_option, say_nothing_checked, subject_options
from entrycache_cli.commands.settings_file import config_for, given_settings, settings_options
from entrycache_cli.report.terminal import console, failure_table, summary
from entrycache_conformance.concurrent.level import LEVEL
from entrycache_conformance.concurrent.run import said
from entrycache_conformance.concurrent.table import history_table
from entrycache_conformance.known.run import KnownReport, conform_knowing, fix_file
from entrycache_conformance.levels import asked_levels
from entrycache_conformance.profiles import PROFILES
from entrycache_conformance.run import Notify, Options, Report, conform
from entrycache_conformance.subjects.narrowed import pinned, unmasked
from entrycache_conformance.subjects.resolve import resolve
from entrycache_conformance.subjects.validate import Validated
from entrycache_protocol.subject import UnderTest
from entrycache_protocol.wire import cut, printable

Result = TypeVar("Result")


@click.command("conform")
@click.argument("subject", required=False)
@subject_options
@click.option("--level", "levels", multiple=True, metavar="L", help="A level (again for more); default: all.")
@click.option("--profile", type=click.Choice(list(PROFILES)), default="dev", show_default=True, help="How long to run.")
@click.option("--seed", type=int, default=0, show_default=True, help="The seed of all choices.")
@click.option(
    "--bulk",
    type=click.FloatRange(min=0),
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
    help="Hold the subject to the norm where it declares a limit or variant for this finding (again for more; all).",
)
@known_options
@settings_options
@json_option
@ends_with_code
def command(
    subject: str | None, levels: tuple[str, ...], profile: str, seed: int, bulk: float, validate: bool,
    failures: Path, unmask: tuple[str, ...], known: Path | None, fix: bool, as_json: bool, **kwargs: Any,
) -> int:  # fmt: skip
    """Hold SUBJECT (default: fast) to the rules, beside the reference.

    Exit 0: conforms; 1: violates; 2: wrong usage, or nothing was checked; 3: the subject is broken;
    4: something it needs is missing; 70: the suite contradicts itself, our error.
    """
    entries = known_failures.entries_of(known, fix)
    settings = given_settings(kwargs)
    found = resolve(choice_of(subject, kwargs))
    if validate:
        found = Validated(found)
    knowing: KnownReport | None = None
    fixed: list[str] = []
    try:
        normal = unmasked(found, unmask) if unmask else found
        tested = normal if settings is None else pinned(normal, config_for(settings, found), settings.path)
        options = Options(asked_levels(found.declaration, levels), PROFILES[profile], seed, bulk, failures)
        if known is None:
            report = _with_progress(found, as_json, lambda notify: conform(tested, options, notify))
        else:
            where = known.parent
            knowing = _with_progress(
                found, as_json, lambda notify: conform_knowing(tested, options, entries, where, notify)
            )
            report = knowing.report
            fixed = fix_file(known, found, knowing) if fix else []
    finally:
        found.close()
    if as_json:
        more = {} if knowing is None else known_failures.to_json(knowing)
        click.echo(json.dumps({**report.json, **more}))
    else:
        show(report, seed, profile)
        for line in () if knowing is None else known_failures.lines(knowing):
            click.echo(line)
        if isinstance(found, Validated):
            click.echo(f"{found.messages} messages held to their schemas")
    code = exit_code(report.json)
    if knowing is not None:
        code = known_failures.say_problems(knowing, fixed if fix else None, code)
    if code == 2:
        say_nothing_checked([f"{item['what']}: {item['reason']}" for item in report.json["skipped"]])
    return code


def _with_progress(subject: UnderTest, quiet: bool, run: Callable[[Notify], Result]) -> Result:
    """What a run answers that tells how far it is."""
    out = console(stderr=True)
    if quiet or not out.is_terminal:
        return run(lambda level, done, wanted: None)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=out, transient=True) as progress:
        tasks: dict[str, Any] = {}

        def notify(level: str, done: int, wanted: int) -> None:
            if level not in tasks:
                tasks[level] = progress.add_task(escape(f"{subject.name}, level {level}"), total=wanted)
            progress.update(tasks[level], completed=done, total=max(wanted, done))

        return run(notify)


def exit_code(report: dict[str, Any]) -> int:
    """1 if any level violates, else 2 if a level is nothing-checked, else 0."""
    verdicts = [judged["verdict"] for judged in report["levels"].values()]
    if "violates" in verdicts:
        return 1
    return 2 if "nothing-checked" in verdicts or not verdicts else 0


def show(report: Report, seed: int, profile: str) -> None:
    """The tables of a run."""
    out = console()
    for failure, rules, path in report.failures:
        out.print(failure_table(failure, rules))
        out.print(f"case file: {path}\nreplay it: entrycache replay {path} SUBJECT", markup=False, soft_wrap=True)
    for found, path in report.histories:
        out.print(history_table(found))
        out.print(said(found), markup=False, soft_wrap=True)
        out.print(f"case file: {path}\nreplay it: entrycache replay {path} SUBJECT", markup=False, soft_wrap=True)
    out.print(summary(report.json))
    level = report.json["levels"].get(LEVEL)
    if level is not None and level["examples"]:
        out.print(
            f"{level['histories']} histories on {level['threads']} threads; {level['inconclusive']} inconclusive "
            f"(a search for an order enters at most {level['states_max']} states)"
        )
    source = report.json.get("source")
    if type(source) is str:
        out.print(f"source: {cut(printable(source), 400)}", markup=False, soft_wrap=True)
    fired = [rule["fired"] for rule in report.json["rules"].values()]
    met = sum(1 for count in fired if count)
    counts = report.json["cells"].values()
    cells = f", {sum(1 for count in counts if count)} of {len(counts)} decision cells met" if counts else ""
    out.print(f"seed {seed}, profile {profile}; {met} of {len(fired)} rules fired{cells}")
    out.print(f"skipped: {len(report.json['skipped'])}")
    for item in report.json["skipped"]:
        out.print(f"  {item['what']}: {item['reason']}", markup=False)
