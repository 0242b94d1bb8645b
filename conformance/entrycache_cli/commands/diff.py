"""The command `entrycache diff`: run the same cases on two subjects and report where their answers differ."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import click

from entrycache_cli.commands.options import close_subject, exits_with_code, json_option
from entrycache_cli.report.terminal import echo
from entrycache_conformance.campaign.behaviour import (
    BehaviourDifference,
    describe_left_out,
    describe_uncompared,
    find_behaviour_differences,
    to_markdown,
)
from entrycache_conformance.resolve import SubjectChoice, resolve_subject
from entrycache_protocol import case, errors, files


@click.command("diff")
@click.argument("before")
@click.argument("after")
@click.option("--seed", type=int, default=1, show_default=True, help="The seed, which decides every case.")
@click.option("--cases", type=click.IntRange(1), default=200, show_default=True, help="The number of cases.")
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), help="Write the page to this file, as Markdown."
)
@json_option
@exits_with_code
def command(before: str, after: str, seed: int, cases: int, out: Path | None, as_json: bool) -> int:
    """Run the same cases on BEFORE and AFTER, and report each difference: rule, shortest sequence, both outcomes.

    Exit 0: they answered alike; 1: they did not; 2: nothing was compared. A run that is stopped prints the differences
    so far and writes no page.
    """
    run = f"entrycache diff {before} {after} --seed {seed} --cases {cases}"
    one = resolve_subject(SubjectChoice(before))
    try:
        other = resolve_subject(SubjectChoice(after))
        try:
            uncompared: Counter[str] = Counter()
            exceptions = describe_left_out((before, after), one.declaration, other.declaration)
            more: dict[str, int | list[str]] = {"exceptions": exceptions}
            differences = find_behaviour_differences(one, other, seed, cases, _notify, uncompared)
        except errors.Interrupted as stopped:
            if stopped.partial_result is not None:
                text = to_markdown((before, after), stopped.partial_result, f"{run}, stopped", exceptions)
                _say(text, (before, after), stopped.partial_result, {**more, "stopped": True}, as_json)
            raise
        finally:
            close_subject(other)
    finally:
        close_subject(one)
    text = to_markdown((before, after), differences, run, exceptions)
    left_out = uncompared.total()
    if left_out:
        more["uncompared"] = left_out
    _say(text if out is None else "", (before, after), differences, more, as_json)
    if left_out:
        echo(f"entrycache: {describe_uncompared(uncompared, cases)}", err=True)
    if out is not None:
        try:
            files.write_text(out, text)
        except errors.WriteError:
            if not as_json:
                echo(text)
            raise
    return 1 if differences else 0


def _say(
    text: str,
    names: tuple[str, str],
    differences: list[BehaviourDifference],
    more: Mapping[str, int | list[str]],
    as_json: bool,
) -> None:
    """Print the differences as one JSON object or as the page."""
    if as_json:
        parts = [
            {"label": each.label, "rules": each.rules, "case": case.case_to_json(each.case), "met": each.case_count}
            | {"before": each.before, "after": each.after}
            for each in differences
        ]
        echo(json.dumps({"schema": 1, "before": names[0], "after": names[1], "differences": parts, **more}, indent=1))
    elif text:
        echo(text)


def _notify(cases: int, differences: int) -> None:
    if cases % 50 == 0:
        echo(f"entrycache: {cases} cases, {differences} differences of behaviour", err=True)
