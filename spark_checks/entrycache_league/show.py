"""A league as tables and JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from entrycache_league.cost import TOPICS, Cost
from entrycache_league.league import League
from entrycache_league.replay import Measured

COUNTED = (
    *("policy", "hit ratio", "by bytes", "storage reads an entry", "peak bytes", "mean bytes"),
    *("looks an evicted entry", "over the capacity", "overshoot of a pass"),
)
TIMED = "ns a request"


def label(measured: Measured) -> str:
    """The name of a policy; that of a bound says so."""
    return f"{measured.policy} (upper bound)" if measured.bound else measured.policy


def cells(measured: Measured) -> tuple[str, ...]:
    """What was counted of one policy; of a bound, nothing about bytes."""
    ratios = (measured.hit_ratio, measured.byte_hit_ratio, measured.storage_reads_an_entry)
    told = (label(measured), *(f"{ratio:.4f}" for ratio in ratios))
    if measured.bound:
        return (*told, *("-" for _ in range(len(COUNTED) - len(told))))
    looked = measured.looked_an_evicted
    return (
        *told,
        f"{measured.peak_bytes}",
        f"{measured.mean_bytes:.0f}",
        "-" if looked is None else f"{looked:.2f}",
        f"{measured.over_bytes}",
        f"{measured.overshoot_bytes}",
    )


def title(league: League) -> str:
    """What was replayed."""
    size = league.table[0].capacity_bytes
    return (
        f"{league.name}: {league.reads} reads of {league.entries} entries ({league.entry_bytes} bytes) "
        f"in {league.seconds:.2f} s; capacity {size} bytes"
    )


def table(league: League) -> Table:
    """The table for a terminal."""
    rows = [(*cells(measured), f"{measured.nanos_a_request:.0f}") for measured in league.table]
    return _table(title(league), [(*COUNTED, TIMED), *rows])


def cost_rows(costs: Sequence[Cost]) -> list[tuple[str, ...]]:
    """Head and lines of the table of costs; ratios are to the same policy with the fewest topics."""
    head = ["policy"]
    for topics in TOPICS:
        head += [f"ns, {topics:,} topics", f"looks, {topics:,} topics"]
    rows = [(*head, "times the cost")]
    for policy in dict.fromkeys(cost.policy for cost in costs):
        own = [cost for cost in costs if cost.policy == policy]
        told = [text for cost in own for text in (f"{cost.nanos:.0f}", f"{cost.looks:.2f}")]
        rows.append((policy, *told, f"{own[-1].nanos / own[0].nanos:.1f}"))
    return rows


def cost_table(costs: Sequence[Cost]) -> Table:
    """The table of costs for a terminal."""
    return _table("a request, 10,000 adds a second", cost_rows(costs))


def _table(text: str, rows: Sequence[tuple[str, ...]]) -> Table:
    made = Table(title=Text(text), title_justify="left")
    for index, column in enumerate(rows[0]):
        made.add_column(column, justify="right" if index else "left", overflow="fold")
    for row in rows[1:]:
        made.add_row(*map(Text, row))
    return made


def markdown_table(rows: Sequence[tuple[str, ...]]) -> str:
    """The same in Markdown."""
    head, *lines = rows
    body = ["| " + " | ".join(line) + " |" for line in lines]
    return "\n".join(["| " + " | ".join(head) + " |", "|---" + "|---:" * (len(head) - 1) + "|", *body, ""])


def to_json(leagues: Iterable[League], costs: Sequence[Cost] = ()) -> dict[str, Any]:
    """The object that `--json` prints."""
    return {
        "schema": 1,
        "leagues": [
            {
                "name": league.name,
                "requests": league.requests,
                "reads": league.reads,
                "entries": league.entries,
                "entry_bytes": league.entry_bytes,
                "seconds": league.seconds,
                "policies": [_json(measured) for measured in league.table],
                "curve": [[each.policy, each.capacity_bytes, 1 - each.hit_ratio] for each in league.curve],
            }
            for league in leagues
        ],
        "costs": [[cost.policy, cost.topics, round(cost.nanos, 1), round(cost.looks, 4)] for cost in costs],
    }


def _json(measured: Measured) -> dict[str, Any]:
    return {
        "policy": measured.policy,
        "bound": measured.bound,
        "capacity_bytes": measured.capacity_bytes,
        "reads": measured.reads,
        "hits": measured.hits,
        "misses": measured.misses,
        "hit_ratio": measured.hit_ratio,
        "byte_hit_ratio": measured.byte_hit_ratio,
        "storage_reads_an_entry": measured.storage_reads_an_entry,
        "peak_bytes": None if measured.bound else measured.peak_bytes,
        "mean_bytes": None if measured.bound else round(measured.mean_bytes),
        "looks": None if measured.bound else measured.looked,
        "evicted": None if measured.bound else measured.evicted,
        "over_bytes": None if measured.bound else measured.over_bytes,
        "overshoot_bytes": None if measured.bound else measured.overshoot_bytes,
        "nanos_a_request": round(measured.nanos_a_request, 1),
    }
