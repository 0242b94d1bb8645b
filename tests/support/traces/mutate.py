"""Random traces: generated ones with random changes, gaps, and without slot numbers."""

from __future__ import annotations

import random
from pathlib import Path

from tests.support.traces import plant

CHANGED = (
    *("bytes_after", "size_bytes", "stamp_ns", "requeues", "expected_reads", "accessed", "ticket", "head_no"),
    *("bound", "life", "max_requeues", "extend_accessed", "tail_no"),
)
CHANGED_OF_LEVELS = (
    *CHANGED,
    *("manager_bytes", "trigger_bytes", "target_bytes", "ts_ns", "ledger_id", "entry_id", "pass_id", "call_id"),
    *("op", "cause", "origin", "cache", "cursor"),
)
"""The columns that are changed, in traces of the first levels and in those with cursors."""


def mutate(rows: list[plant.Row], chance: random.Random, columns: tuple[str, ...] = CHANGED) -> None:
    """Change one to three values, each in a row that has it: a number by a little, a name to another one."""
    for _ in range(chance.randrange(1, 4)):
        name = chance.choice([name for name in columns if any(row[name] is not None for row in rows)])
        row = plant.pick(rows, chance, lambda row, name=name: row[name] is not None)  # type: ignore[misc]
        if isinstance(row[name], bool):
            row[name] = not row[name]
        elif isinstance(row[name], str):
            row[name] = chance.choice(sorted({row[name] for row in rows if row[name] is not None}))
        else:
            row[name] += chance.choice((-2, -1, 1, 2, 50))


def gap(rows: list[plant.Row], chance: random.Random) -> None:
    """Lose a few events in one to three places."""
    for _ in range(chance.randrange(1, 4)):
        start = chance.randrange(len(rows))
        del rows[start : start + chance.randrange(1, 12)]


def random_traces(folder: Path, seeds: range) -> dict[str, list[plant.Row]]:
    """Return a broker for each seed: of five one is clean, one has gaps, three are changed.

    One of three lacks slot numbers.
    """
    traces: dict[str, list[plant.Row]] = {}
    bases: dict[str, list[plant.Row]] = {}
    for seed in seeds:
        preset = ("tail-fanout", "catch-up-fanout")[seed % 2]
        chance = random.Random(seed)
        if seed % 8 < 2 or preset not in bases:
            events = 400 + chance.randrange(500)
            honest_rows = plant.honest(folder / f"honest-{seed}", 4 * events, seed, 4, preset)
            bases[preset] = honest_rows[f"broker-{chance.randrange(4)}"]
        rows = plant.renamed(bases[preset], f"random {seed}")
        if seed % 3 == 0:
            plant.without_slot_numbers(rows)
        if seed % 5 == 1:
            gap(rows, chance)
        elif seed % 5:
            mutate(rows, chance, CHANGED_OF_LEVELS if preset == "catch-up-fanout" else CHANGED)
        traces[f"random {seed}"] = rows
    return traces
