"""`python -m entrycache_evidence.matrix`: which detector sees which change of the reference."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from entrycache_evidence.matrix.change import Change
from entrycache_evidence.matrix.detect import QUICK
from entrycache_evidence.matrix.equivalent import arguments
from entrycache_evidence.matrix.places import all_changes, modules, sample
from entrycache_evidence.matrix.run import look_at
from entrycache_evidence.matrix.table import Line, page, read_json, share, to_json
from entrycache_evidence.rulebook.registry import checkout
from entrycache_protocol.errors import EntrycacheError, UsageError
from entrycache_protocol.output import write_text


@click.command()
@click.option("--sample", "number", type=click.IntRange(1), help="So many changes instead of all.")
@click.option("--seed", default=16, show_default=True, help="Which ones.")
@click.option(
    "--only", default="", help="Changes of modules whose name holds this, as pulsar_pip430 or kafka_streams.flush."
)
@click.option("--id", "ids", multiple=True, help="This change; may be given several times.")
@click.option("--thorough", is_flag=True, help="Ask every detector, also when a formal one has seen a change.")
@click.option(
    "--missing", is_flag=True, help="Ask about changes that the committed table does not have; keep the rest."
)
@click.option("--write", is_flag=True, help="Write docs/matrix.json and docs/matrix.md.")
def main(
    number: int | None, seed: int, only: str, ids: tuple[str, ...], thorough: bool, missing: bool, write: bool
) -> None:
    """Say what sees each change, one line a change that no formal detector sees; 1 if there is one."""
    every = all_changes()
    because = arguments({change.id for change in every})
    former = _committed() if missing else {}
    asked = [change for change in every if only in change.module and change.id not in former]
    asked = [change for change in asked if not ids or change.id in ids]
    if number is not None:
        asked = sample(asked, number, seed)
    if write and (number is not None or only or ids):
        raise UsageError(
            "--write needs all changes; expected no --sample, --only or --id (--missing asks about new ones)"
        )
    seen = dict(
        zip((change.id for change in asked), look_at(asked, QUICK, thorough, _progress(len(asked))), strict=True)
    )
    told = [change for change in every if change.id in seen or change.id in former]
    lines = [_line(change, {**former, **seen}, because) for change in told]
    if write:
        _write(lines)
    sys.exit(_report(lines))


def _line(change: Change, seen: dict[str, dict[str, str]], because: dict[str, str]) -> Line:
    return Line(change, seen[change.id], because.get(change.id, ""))


def _report(lines: list[Line]) -> int:
    for line in lines:
        if line.is_hole:
            change = line.change
            others = ", ".join(line.seen) or "nothing"
            print(f"{change.id} {change.file}:{change.line} {change.function} ({change.kind}); seen by {others}")
    seen, real = share(lines)
    print(f"{len(lines)} changes, {len(lines) - real} of them change nothing; a formal detector sees {seen} of {real}")
    return int(seen < real)


def _progress(number: int):  # type: ignore[no-untyped-def]
    def told(done: int) -> None:
        if sys.stderr.isatty():
            print(f"\r{done} of {number}", end="", file=sys.stderr, flush=True)

    return told


def folder() -> Path:
    """Where the table is committed.

    Raises:
        UsageError: this is not a source checkout.
    """
    root = checkout()
    if root is None:
        raise UsageError("the table of changes is in a source checkout only")
    return root / "docs"


def _committed() -> dict[str, dict[str, str]]:
    return read_json((folder() / "matrix.json").read_text(encoding="utf-8"))


def _write(lines: list[Line]) -> None:
    sources = {name: path.read_text(encoding="utf-8") for name, path in modules()}
    write_text(folder() / "matrix.json", to_json(lines))
    write_text(folder() / "matrix.md", page(lines, sources))


if __name__ == "__main__":
    try:
        main(standalone_mode=True)
    except EntrycacheError as error:
        print(f"entrycache: {error}", file=sys.stderr)
        sys.exit(2)
