"""The command `entrycache campaign`: play seeded cases on several subjects and compare them with the reference.

A workload profile says which operations the cases prefer. The record of a campaign (subjects, seed, steps,
differences) is printed and can be written as JSON; `entrycache versions` reads such records. Some workload profiles
are programs of their own.
"""

import json
from pathlib import Path
from typing import Any, Final

import click

from entrycache_cli.commands.options import SecondsRange, exits_with_code, json_option, print_nothing_checked
from entrycache_cli.report.terminal import echo, make_console
from entrycache_conformance import resolve, unpinned
from entrycache_conformance.campaign.run import (
    PROGRAMS,
    CampaignPlan,
    CampaignSubject,
    load_program,
    open_subject,
    run_campaign,
)
from entrycache_conformance.systems import SYSTEMS
from entrycache_protocol import errors, files

PROGRESS_STEPS: Final = 1_000_000
"""The number of judged steps between two lines of progress on stderr."""


DEFAULT_WORKLOAD: Final = "default"
"""The workload profile that every system has."""


class WorkloadName(click.ParamType):  # type: ignore[type-arg]  # not generic in click 8.2
    """The name of a workload profile; only a name other than the default makes it load the profiles of all systems."""

    name = "workload"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name if a system or a program has it."""
        return value if value == DEFAULT_WORKLOAD else str(_workload_choice().convert(value, param, ctx))

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str | None:
        """List the names in the help."""
        return _workload_choice().get_metavar(param, ctx)


def _workload_choice() -> click.Choice[str]:
    """Return the choice among the workload profiles of all systems and the programs."""
    every = (system.cases for system in SYSTEMS.values())
    workloads = dict.fromkeys(name for cases in every for name in (*cases.workloads, *cases.level_workloads))
    return click.Choice([*workloads, *PROGRAMS])


@click.command("campaign")
@click.argument("subjects", nargs=-1, required=True)
@click.option(
    "--workload",
    type=WorkloadName(),
    default=DEFAULT_WORKLOAD,
    show_default=True,
    help="The workload profile of the cases.",
)
@click.option("--theme", "former_workload", type=WorkloadName(), hidden=True)
@click.option("--system", type=click.Choice(list(SYSTEMS)), help="The system, for a subject of several systems.")
@click.option("--level", help="Cases of this level as `conform` plays it (default: operations of all levels alike).")
@click.option("--seed", type=int, default=1, show_default=True, help="The seed, which decides every case.")
@click.option("--steps", type=click.IntRange(1), default=600, show_default=True, help="The steps of each case.")
@click.option("--cases", type=click.IntRange(1), help="The number of cases.")
@click.option(
    "--cpu-seconds",
    type=SecondsRange(min_open=True),
    help="Instead of --cases: the CPU seconds that this process may spend.",
)
@click.option(
    "--differences", type=click.IntRange(1), default=5, show_default=True, help="Stop after this many differences."
)
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Write the record to this file, as JSON.")
@click.option(
    "--failures",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(".entrycache/campaign"),
    show_default=True,
    help="The folder for the cases of differences.",
)
@json_option
@exits_with_code
def command(
    subjects: tuple[str, ...],
    workload: str,
    former_workload: str | None,
    system: str | None,
    level: str | None,
    seed: int,
    steps: int,
    cases: int | None,
    cpu_seconds: float | None,
    differences: int,
    out: Path | None,
    failures: Path,
    as_json: bool,
) -> int:
    """Play seeded cases of a workload profile on all SUBJECTS, and compare each of them with the reference.

    The subjects must follow the same variants. A campaign that is stopped prints and writes the cases that every
    subject has answered; its record says "stopped". Exit 0: no difference; 1: some, each shrunk and written as a case;
    2: nothing was judged.
    """
    if cases is None and cpu_seconds is None:
        cases = 100
    workload = former_workload or workload
    if workload in PROGRAMS:
        if level is not None:
            raise errors.UsageError(f"the workload profile {workload} has no levels; leave out --level")
        program = load_program(workload)
        try:
            record = program.play(subjects, seed, cases or 100)
        except errors.Interrupted as stopped:
            _report_record(stopped.partial_result, program.kept(stopped.partial_result), out, as_json)
            raise
        _report_record(record, program.kept(record), out, as_json)
        return 1 if record["differences"] else 0
    plan = CampaignPlan(workload, level, seed, steps, cases, cpu_seconds, differences, failures)
    opened: list[CampaignSubject] = []
    try:
        wanted = system or _system(subjects)
        for name in subjects:
            opened.append(open_subject(name, wanted))
        campaign = run_campaign(opened, plan, _Progress())
    except errors.Interrupted as stopped:
        _report_record(stopped.partial_result.json, stopped.partial_result.json, out, as_json)
        raise
    finally:
        for subject in opened:
            subject.close()
    _report_record(campaign.json, campaign.json, out, as_json)
    unwritten = [kept.unwritten for kept in campaign.kept if kept.unwritten]
    if unwritten:
        raise errors.WriteError(unwritten[0])
    if not (campaign.kept or campaign.json["judged_steps"]):
        print_nothing_checked(["no step was judged; give more --cases or --cpu-seconds"])
        return errors.Verdict.NOTHING_CHECKED.exit_code
    return 1 if campaign.kept else 0


def _system(subjects: tuple[str, ...]) -> str:
    """Return the system of the first released jar among the subjects, or the first system there is."""
    released = (name for name in subjects if resolve.is_released(name) or resolve.is_jar(name))
    return next((unpinned.closest_release(name).family.system for name in released), next(iter(SYSTEMS)))


def _report_record(record: dict[str, Any], kept: dict[str, Any], out: Path | None, as_json: bool) -> None:
    """Print a record, then write the part that is kept. A record is written only if it has judged something."""
    if record.get("stopped") and not record["judged_steps"]:
        return
    _print_record(record, as_json)
    if out is not None and (record["judged_steps"] or record["differences"]):
        files.write_text(out, json.dumps(kept) + "\n")


def _print_record(record: dict[str, Any], as_json: bool) -> None:
    if as_json:
        echo(json.dumps(record, indent=1))
        return
    names = ", ".join(subject["name"] for subject in record["subjects"])
    make_console().print(
        f"{names}: workload profile {record['theme']}, {_describe_level(record)}seed {record['seed']}, "
        f"{record['cases']} cases, {record['judged_steps']} judged steps, {record['cpu_seconds']} CPU seconds, "
        f"{len(record['differences'])} differences{', stopped' if record.get('stopped') else ''}",
        highlight=False,
    )
    for difference in record["differences"]:
        make_console().print(f"  {difference}", highlight=False)


def _describe_level(record: dict[str, Any]) -> str:
    return f"level {record['level']}, " if "level" in record else ""


class _Progress:
    """A progress callback that prints a line on stderr now and then."""

    def __init__(self) -> None:
        self._told = 0

    def __call__(self, cases: int, steps: int) -> None:
        if steps - self._told >= PROGRESS_STEPS:
            self._told = steps
            echo(f"entrycache: {cases} cases, {steps} judged steps", err=True)
