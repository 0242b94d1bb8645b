"""`python -m entrycache_spark.mutations`: which rule sees which change of one value in one event of a trace."""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Sequence
from pathlib import Path

from entrycache_protocol.errors import UsageError
from entrycache_protocol.output import write_text
from entrycache_spark.mutations.changes import changes_of
from entrycache_spark.mutations.judged import BASES, SEED, Base, Disagreement, judge, recorded_in, rows_of
from entrycache_spark.mutations.table import Lines, from_json, holes, page, to_json

NAME = "audit-mutations"


def docs() -> Path:
    """Where the table is committed.

    Raises:
        UsageError: this is not a source checkout.
    """
    found = next((folder / "docs" for folder in Path(__file__).resolve().parents if (folder / "docs").is_dir()), None)
    if found is None:
        raise UsageError("the table of changed traces is part of a source checkout; expected to run in one")
    return found


def committed() -> Lines:
    """The table as it is committed."""
    path = docs() / f"{NAME}.json"
    return from_json(path.read_text(encoding="utf-8")) if path.is_file() else {}


def look(bases: Sequence[Base], sample: int | None, seed: int) -> Lines:
    """What is seen of all changes, or of so many of each trace."""
    found: Lines = {}
    for base in bases:
        rows = rows_of(base)
        changes = changes_of(rows)
        if sample is not None:
            changes = random.Random(seed).sample(changes, min(sample, len(changes)))
        for change, seen in judge(base, rows, changes, SEED):
            found[base.name, change] = seen
        if sys.stderr.isatty():
            print(f"{base.preset}: {len(found)} changes", file=sys.stderr)
    return found


def lost(found: Lines, former: Lines) -> list[str]:
    """The changes that are seen otherwise than the table says."""
    return [
        f"{trace}, {change}: {seen.here} {seen.there}, the table says {former[trace, change][:2]}"
        for (trace, change), seen in found.items()
        if (trace, change) in former and former[trace, change][:2] != seen[:2]
    ]


def main() -> int:
    """Ask; 1 where engines disagree, a change is seen by no rule and not explained, or the table says otherwise."""
    parser = argparse.ArgumentParser(prog="python -m entrycache_spark.mutations", description=__doc__)
    parser.add_argument("--sample", type=int, help="so many changes of each trace instead of all")
    parser.add_argument("--seed", type=int, default=1, help="which ones")
    parser.add_argument(
        "--trace", type=Path, help="a recorded trace, instead of those of the table; few thousand events"
    )
    parser.add_argument("--write", action="store_true", help=f"write docs/reference/{NAME}.md and docs/{NAME}.json")
    asked = parser.parse_args()
    bases = BASES if asked.trace is None else (recorded_in(asked.trace),)
    found = look(bases, asked.sample, asked.seed)
    if asked.write and asked.trace is None:
        write_text(docs() / f"{NAME}.json", to_json(found))
        write_text(docs() / "reference" / f"{NAME}.md", page(found))
    told = [f"{trace}, {change}: seen by no rule" for trace, change in holes(found)] + lost(found, committed())
    for line in told:
        print(line)
    print(f"{len(found)} changes, {sum(seen.is_caught for seen in found.values())} seen, {len(told)} to look at")
    return int(bool(told))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Disagreement as error:
        print(f"entrycache: {error}", file=sys.stderr)
        sys.exit(1)
    except UsageError as error:
        print(f"entrycache: {error}", file=sys.stderr)
        sys.exit(2)
