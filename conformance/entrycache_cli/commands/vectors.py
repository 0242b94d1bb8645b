"""The command `entrycache vectors`: write packs of cases with the reference's outcomes, or play a pack on a subject.

`fill` makes packs from the reference, compares their hashes with the published manifest, or publishes them anew.
`consume` plays a pack on a subject and reports where its outcomes differ.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from entrycache_cli.commands import options
from entrycache_cli.report import content, run_text, terminal
from entrycache_conformance.resolve import SubjectChoice, resolve_subject
from entrycache_conformance.vectors.packs import (
    MANIFEST_NAME,
    PACK_NAMES,
    SMALL_PACK,
    SUFFIX,
    PackSummary,
    PackWriter,
    build_manifest,
    find_changed_packs,
    make_vectors,
    pack_case_count,
    read_manifest,
    write_manifest,
)
from entrycache_conformance.vectors.player import PackResult, play_pack
from entrycache_evidence.core.checkout import locate_spec_folder
from entrycache_protocol.errors import Interrupted, UsageError, WriteError, escape_unprintable
from entrycache_protocol.subject import TestedSubject

Result = TypeVar("Result")
Notify = Callable[[str, int, int], None]
"""A callback that gets the name of the part in progress, the cases done, and the number of cases (0 if unknown)."""

SEED: Final = 0
"""The seed of the packs whose hashes are published."""


@click.group("vectors")
def command() -> None:
    """Write cases with the reference's outcomes as files for other languages, or play them."""


@command.command("fill")
@click.option(
    "--pack", "packs", multiple=True, type=click.Choice(PACK_NAMES), help="A pack (repeatable; default: all)."
)
@click.option("--seed", type=int, default=SEED, show_default=True, help="The seed of all cases.")
@click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), default=Path("entrycache-vectors"), show_default=True
)
@click.option("--check", is_flag=True, help="Write nothing; compare the packs with the published manifest.")
@click.option("--write", is_flag=True, help="Update the published manifest and the small pack.")
@options.json_option
@options.exits_with_code
def fill(packs: tuple[str, ...], seed: int, out: Path, check: bool, write: bool, as_json: bool) -> int:
    """Make packs of vectors from the reference, 50,000 cases in all.

    Exit 0: written, or with --check as published; 1: --check found another hash.
    """
    if (check or write) and seed != SEED:
        raise UsageError(f"what is published has the seed {SEED}; --check and --write go without --seed")
    if write and (packs or check):
        raise UsageError("--write makes every pack, and neither --pack nor --check goes with it")
    published = locate_spec_folder() / "vectors"
    filled = _with_progress(as_json, lambda notify: [
        _fill_pack(name, seed, None if check else _target(name, out, published, write), notify)
        for name in packs or PACK_NAMES
    ])  # fmt: skip
    manifest_json = build_manifest(filled, seed)
    differing = find_changed_packs(filled, published / MANIFEST_NAME, whole_set=not packs) if check else []
    if not check:
        write_manifest(manifest_json, (published if write else out) / MANIFEST_NAME)
    if as_json:
        terminal.echo(
            json.dumps(
                {**manifest_json, "versions": content.tool_versions(), **({"otherwise": differing} if check else {})}
            )
        )
    else:
        _print_packs(
            filled, manifest_json, "checked, nothing written" if check else f"in {published if write else out}"
        )
        for name in differing:
            terminal.echo(
                f"{name} is not as published: run `entrycache vectors fill --write` if its rules were meant to change"
            )
    return 1 if differing else 0


def _target(name: str, out: Path, published: Path, write: bool) -> Path | None:
    """Return the file of a pack; only the small pack is published."""
    if write:
        return published / f"{name}{SUFFIX}" if name == SMALL_PACK else None
    return out / f"{name}{SUFFIX}"


def _fill_pack(name: str, seed: int, target: Path | None, notify: Notify) -> PackSummary:
    packing = PackWriter(keeps=target is not None)
    steps = 0
    rules: set[str] = set()
    wanted = pack_case_count(name)
    for number, vector in enumerate(make_vectors(name, seed), 1):
        packing.add(vector.line)
        steps += vector.steps
        rules |= {rule.value for rule, count in vector.coverage.fired.items() if count}
        notify(name, number, wanted)
    if target is not None:
        packing.write(target)
    return PackSummary(name, wanted, steps, packing.text_bytes, packing.sha256, tuple(sorted(rules)))


def _print_packs(filled: list[PackSummary], manifest_json: dict[str, Any], where: str) -> None:
    table = Table(title=Text(f"seed {manifest_json['seed']}"), title_justify="left")
    for column in ("pack", "cases", "steps", "rules met", "sha256 of the text"):
        table.add_column(column, overflow="fold")
    for pack in filled:
        table.add_row(pack.name, str(pack.cases), str(pack.steps), str(len(pack.rules)), pack.sha256)
    terminal.make_console().print(table)
    terminal.echo(
        f"{sum(pack.cases for pack in filled)} cases; sha256 of these hashes {manifest_json['sha256']}; {where}"
    )


@command.command("consume")
@click.argument("pack", type=click.Path(path_type=Path))
@click.argument("subject", required=False)
@options.subject_options
@click.option(
    "--failures",
    type=click.Path(path_type=Path),
    default=Path("entrycache-failures"),
    show_default=True,
    metavar="DIR",
    help="The folder for case files of failures.",
)
@options.json_option
@options.exits_with_code
def consume_command(pack: Path, subject: str | None, failures: Path, as_json: bool, **kwargs: Any) -> int:
    """Play PACK on SUBJECT; PACK is a file, or `small` for the pack in the package.

    Exit 0: it answers as the reference does, perhaps with exceptions, which are named; 1: it differs; 2: it can play
    fewer than a tenth of PACK's different cases of its system, or fewer than ten, or shows no answer of a lookup; 3: it
    is broken.
    """
    choice = options.choose_subject(subject, kwargs)
    path = (
        locate_spec_folder() / "vectors" / f"{SMALL_PACK}{SUFFIX}"
        if str(pack) == SMALL_PACK and not pack.exists()
        else pack
    )
    tested = resolve_subject(choice)
    try:
        consumed = _with_progress(
            as_json, lambda notify: play_pack(path, tested, failures, lambda cases: notify(path.name, cases, 0))
        )
    except Interrupted as stopped:
        _print_consumed(tested, path, stopped.partial_result, choice, as_json)
        raise
    finally:
        options.close_subject(tested)
    _print_consumed(tested, path, consumed, choice, as_json)
    for failure in consumed.failures:
        if failure.unwritten:
            raise WriteError(failure.unwritten)
    code = consumed.verdict.exit_code
    if code == 2:
        options.print_nothing_checked([f"{path}: {consumed.unchecked_reason}"])
    return code


def _print_consumed(
    subject: TestedSubject, path: Path, consumed: PackResult, choice: SubjectChoice, as_json: bool
) -> None:
    """Print the result of playing a pack."""
    known = read_manifest(locate_spec_folder() / "vectors" / MANIFEST_NAME)["packs"].values()
    published = next((pack["name"] for pack in known if pack["sha256"] == consumed.sha256), None)
    if as_json:
        value = {
            "schema": 1,
            "subject": subject.name,
            "system": subject.declaration.system.name,
            "verdict": consumed.verdict.value,
            "pack": str(path),
            "sha256": consumed.sha256,
            "published": published,
            "cases": consumed.cases,
            "played": consumed.played,
            "distinct": len(consumed.distinct),
            "steps": consumed.steps,
            "not_asked": [{"cases": count, "reason": reason} for reason, count in consumed.not_played.most_common()],
            "exceptions": [one._asdict() for one in consumed.exceptions],
            "failures": [
                {**each.to_json(), "replay": content.replay_command(each, choice)} for each in consumed.failures
            ],
            "versions": content.tool_versions(subject),
        }
        terminal.echo(json.dumps(value))
        return
    out = terminal.make_console()
    for failure in consumed.failures[:1]:
        if failure.table is not None:
            out.print(run_text.failure_table(failure.table))
    for failure in consumed.failures:
        line = failure.unwritten or content.replay_command(failure, choice)
        out.print(f"{', '.join(failure.rules)} at step {failure.step}: {escape_unprintable(line)}", soft_wrap=True)
    for reason, count in consumed.not_played.most_common(5):
        out.print(f"{count} cases not asked: {escape_unprintable(reason)}", soft_wrap=True)
    which = "" if not consumed.ended else f" ({published}, as published)" if published else " (not a published pack)"
    rest = "" if consumed.ended else "; the rest was not looked at"
    summary = f"{consumed.played} of {consumed.cases} cases played, {consumed.steps} steps{rest}"
    out.print(
        terminal.coloured_verdict(consumed.headline),
        f"{subject.name}: {escape_unprintable(str(path))}{which}: {summary}",
        soft_wrap=True,
    )
    for line in content.exception_lines(consumed.exceptions):
        out.print(f"  except {escape_unprintable(line)}", soft_wrap=True)


def _with_progress(quiet: bool, run: Callable[[Notify], Result]) -> Result:
    """Run something that reports its progress, with progress bars on a terminal; return its result."""
    out = terminal.make_console(stderr=True)
    if quiet or not out.is_terminal:
        return run(lambda what, done, wanted: None)
    columns = (terminal.description_column(), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=out, transient=True) as progress:
        tasks: dict[str, Any] = {}

        def notify(what: str, done: int, wanted: int) -> None:
            if what not in tasks:
                tasks[what] = progress.add_task(what, total=wanted or None)
            progress.update(tasks[what], completed=done)

        return run(notify)
