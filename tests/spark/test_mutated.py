"""Random small traces with random changes: whatever the changes are, all engines say the same of them."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import plant

from entrycache_spark.verdict import AuditResult, Verdict

CHANGED = (
    *("bytes_after", "size_bytes", "stamp_ns", "requeues", "expected_reads", "accessed", "ticket", "head_no"),
    *("bound", "life", "max_requeues", "extend_accessed", "tail_no"),
)


def mutate(rows: list[plant.Row], chance: random.Random) -> None:
    """Change one to three values, each in a row that has it."""
    for _ in range(chance.randrange(1, 4)):
        name = chance.choice([name for name in CHANGED if any(row[name] is not None for row in rows)])
        row = plant.pick(rows, chance, lambda row, name=name: row[name] is not None)  # type: ignore[misc]
        if isinstance(row[name], bool):
            row[name] = not row[name]
        else:
            row[name] += chance.choice((-2, -1, 1, 2, 50))


def verdict_of(result: AuditResult, broker: str) -> set[tuple[str, int, int | None]]:
    return {(row.rule, row.seq, row.life) for row in result.violations if row.broker == broker}


def test_engines_agree_on_mutated_traces(tmp_path: Path, evaluators: dict[str, Callable[[Path], AuditResult]]) -> None:
    rows: list[plant.Row] = []
    brokers = []
    for seed in range(48):
        if seed % 8 == 0:
            base = plant.honest(tmp_path / f"honest-{seed}", 800 + 100 * seed, seed)["broker-0"]
        own = plant.renamed(base, f"mutated {seed}")
        if seed % 3 == 0:
            plant.without_witnesses(own)
        mutate(own, random.Random(seed))
        rows += own
        brokers.append(f"mutated {seed}")
    random.Random(0).shuffle(rows)
    trace = plant.write(tmp_path / "mutated", rows)
    results = {name: evaluate(trace) for name, evaluate in evaluators.items() if name != "spark windows"}
    sql = results["local windows"]
    found = [broker for broker in brokers if verdict_of(sql, broker)]
    assert len(found) > len(brokers) // 2
    for name, result in results.items():
        different = {
            broker: sorted(verdict_of(result, broker) ^ verdict_of(sql, broker), key=str)
            for broker in brokers
            if verdict_of(result, broker) != verdict_of(sql, broker)
        }
        assert not different, name
        assert result.rules == sql.rules, name


def test_engines_agree_on_gapped_traces(tmp_path: Path, evaluators: dict[str, Callable[[Path], AuditResult]]) -> None:
    rows: list[plant.Row] = []
    for seed in range(30):
        if seed % 6 == 0:
            base = plant.honest(tmp_path / f"honest-{seed}", 900 + 90 * seed, seed)["broker-0"]
        own = plant.renamed(base, f"gapped {seed}")
        chance = random.Random(seed)
        if seed % 2 == 0:
            plant.without_witnesses(own)
        for _ in range(chance.randrange(1, 4)):
            start = chance.randrange(len(own))
            del own[start : start + chance.randrange(1, 12)]
        rows += own
    trace = plant.write(tmp_path / "gapped", rows)
    for name, evaluate in evaluators.items():
        if name == "spark windows":
            continue  # a gap breaks the witnesses, so Spark reaches its windows all the same
        result = evaluate(trace)
        assert not result.violations, name
        assert set(result.rules.values()) == {Verdict.INCONCLUSIVE, Verdict.NOTHING_CHECKED}, name
