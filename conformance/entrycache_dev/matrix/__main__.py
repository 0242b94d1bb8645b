"""Run the mutation matrix: `python -m entrycache_dev.matrix`.

The command asks the detectors about all changes of the reference, or about a part of them. It prints the changes that
no formal detector detects, and with `--write` it writes matrix.json.
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import click

from entrycache_dev.matrix import detectors, generate, mutants, run
from entrycache_dev.matrix.detectors import is_formal
from entrycache_evidence.core.checkout import locate_checkout
from entrycache_protocol import errors, files


@click.command()
@click.option("--sample", "number", type=click.IntRange(1), help="Ask about this number of random changes.")
@click.option("--seed", default=16, show_default=True, help="The seed of the random choice.")
@click.option(
    "--only", default="", help="Ask about modules whose name contains this text, such as kafka_streams.flush."
)
@click.option("--kind", default="", help="Ask about changes of this kind, such as patch or comparison.")
@click.option("--id", "ids", multiple=True, help="Ask about this change; may be repeated.")
@click.option("--rest", is_flag=True, help="Skip changes that the committed table says a formal detector detects.")
@click.option("--thorough", is_flag=True, help="Ask every detector, even after a formal one detected the change.")
@click.option(
    "--write",
    is_flag=True,
    help="Write matrix.json; other changes keep their lines.",
)
def main(
    number: int | None, seed: int, only: str, kind: str, ids: tuple[str, ...], rest: bool, thorough: bool, write: bool
) -> None:
    """Report the changes that no formal detector detects; exit with 1 if the committed table says otherwise."""
    every = mutants.generate_all_changes()
    because = mutants.load_arguments({change.id for change in every})
    former = _committed()
    requested = [change for change in every if only in change.module and kind in change.kind]
    requested = [change for change in requested if not ids or change.id in ids]
    requested = [change for change in requested if not rest or not is_formal(former.get(change.id, {}))]
    requested = requested if number is None else mutants.sample_changes(requested, number, seed)
    detections = dict(
        zip(
            [change.id for change in requested],
            run.ask_detectors(requested, detectors.QUICK, thorough, _show_progress(len(requested))),
            strict=True,
        )
    )
    if write:
        known = {**former, **detections}
        files.write_text(TABLE, run.to_json([_line(change, known, because) for change in every if change.id in known]))
    sys.exit(_report([_line(change, detections, because) for change in requested], former))


def _line(change: generate.Change, detections: Mapping[str, run.Detections], because: Mapping[str, str]) -> run.Line:
    return run.Line(change, detections[change.id], because.get(change.id, ""))


def _report(lines: Sequence[run.Line], former: Mapping[str, run.Detections]) -> int:
    """Print the undetected changes; return 1 if the committed table has one of them as detected."""
    holes = [line for line in lines if line.is_hole]
    for change, detections, _ in holes:
        by = ", ".join(detections) or "nothing"
        print(f"{change.id} {change.file}:{change.line} {change.function} ({change.kind}): detected by {by}")
    formal, real = run.count_detected(lines)
    print(
        f"{len(lines)} changes, {len(lines) - real} of them change nothing; formal detectors detect {formal} of {real}"
    )
    lost = [line.change.id for line in holes if is_formal(former.get(line.change.id, {}))]
    if lost:
        print(f"less than matrix.json says: {', '.join(lost)}", file=sys.stderr)
    return int(bool(lost))


def _show_progress(number: int):  # type: ignore[no-untyped-def]
    def report(done: int) -> None:
        if sys.stderr.isatty():
            print(f"\r{done} of {number}", end="\n" if done == number else "", file=sys.stderr, flush=True)

    return report


TABLE: Final = Path(__file__).with_name("matrix.json")
"""The committed table."""


def locate_root() -> Path:
    """Return the source checkout.

    Raises:
        UsageError: this is not a source checkout.
    """
    root = locate_checkout()
    if root is None:
        raise errors.UsageError("the mutation matrix changes a source checkout; expected to run in one")
    return root


def _committed() -> dict[str, run.Detections]:
    return run.read_json(TABLE.read_text(encoding="utf-8")) if TABLE.is_file() else {}


def render_committed() -> str:
    """Render the site's page of the committed table."""
    every = mutants.generate_all_changes()
    because, known = mutants.load_arguments({change.id for change in every}), _committed()
    lines = [_line(change, known, because) for change in every if change.id in known]
    sources = {name: path.read_text(encoding="utf-8") for name, path in mutants.list_modules()}
    return run.render_page(lines, sources, len(every) - len(lines))


if __name__ == "__main__":
    try:
        main(standalone_mode=True)
    except errors.UsageError as error:
        print(f"entrycache: {error}", file=sys.stderr)
        sys.exit(2)
