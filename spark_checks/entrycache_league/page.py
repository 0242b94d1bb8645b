"""The page of the league: presets, costs and claims, made by one command."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Final

from entrycache_league.comparison import PolicyComparison, PolicyResult, RequestCost, compare_policies, measure_costs
from entrycache_league.policies import ERA_DEFAULTS, PIP430_FLAGS, POLICIES
from entrycache_league.report import (
    COUNTED_COLUMNS,
    comparison_title,
    cost_rows,
    draw_costs,
    draw_curves,
    render_markdown_table,
    result_cells,
)
from entrycache_league.sources import PRESET_NAMES, preset_requests
from entrycache_protocol.files import write_text

PRESET_REQUESTS: Final = 200_000
TRACE_EVENTS: Final = 30_000
"""Of a preset that is recorded first."""

PAGE_HEAD: Final = """# The policy league

Written by `entrycache league --page docs/explanation/policy-comparison.md`, the numbers by the same command into
`league.json`. Hits, bytes
and looks are the same in every run; processor times are of one run, and only their ratios mean something.

```console
$ entrycache league --preset catch-up                # a table on the terminal, in under two minutes
$ entrycache league TRACE --policy pip430 --out DIR  # a recorded trace; tables and pictures
$ entrycache league FILE.oracleGeneral --policy lru  # requests that libCacheSim reads too; --write makes such a file
```

The same requests go through the caches of Pulsar and the policies of the field. An add offers an entry, a read is a hit
or a storage read; hits and misses are of reads alone. Policies of the field take what is added or read, where it fits
into the capacity at all; those of Pulsar as their rules say. What they are, what is assumed, and what each one is
checked against: [decisions/league.md](../decisions/league.md).

| flag of pip430 | what it decides |
|---|---|
{flags}

By default a broker has, by its era ([settings](../reference/settings.md)): {eras}.
All have a time to live of 1 s, a task every 10 ms, watermark 0.9 and 5 requeues; the policies of the field have no time
to live.
`belady` knows the future: exact for entries of one size, else named an upper bound, which no policy need reach.

## Claims

Each claim with what the numbers below say of it, under these presets and this model; not of a broker. Mixed: some
of the numbers confirm it, others do not.

"""


def render_page(numbers: PageNumbers) -> str:
    """The page in Markdown."""
    flags = "\n".join(f"| `{flag}` | {text} |" for flag, text in PIP430_FLAGS.items())
    eras = ", ".join(f"{era} `{policy}`" for era, policy in ERA_DEFAULTS.items())
    parts = [PAGE_HEAD.format(flags=flags, eras=eras), render_claims(numbers), "## What a request costs\n"]
    parts.append(
        "10,000 adds a second over so many topics, each read after 2 and 300 ms; the capacity holds half a second. "
        "Kernels are compiled alike; looks are at entries, dead slots and, of legacy, caches.\n"
    )
    parts += [
        "![Cost of a request over topics](policy-comparison-cost.svg)\n",
        render_markdown_table(cost_rows(numbers.costs)),
    ]
    for name, league in numbers.leagues.items():
        parts += [
            f"## {name}\n",
            f"{comparison_title(league)}.\n",
            f"![Miss ratio over capacity](policy-comparison-{name}.svg)\n",
        ]
        parts.append(render_markdown_table([COUNTED_COLUMNS, *map(result_cells, league.table)]))
    return "\n".join(parts)


def render_claims(numbers: PageNumbers) -> str:
    """A line a claim."""
    lines = [("claim", "source", "here", "numbers")]
    for claim in CLAIMS:
        if claim.hold is None:
            lines.append((claim.text, claim.source, "not tested", claim.why_not))
        else:
            held = claim.hold(numbers)
            lines.append((claim.text, claim.source, held.verdict, held.numbers))
    return render_markdown_table(lines).replace("---:", "---")


def measure_page(progress: Callable[[str], None] = lambda text: None) -> PageNumbers:
    """Run all that the page tells."""
    leagues = {}
    for name in PRESET_NAMES:
        progress(name)
        requests = preset_requests(name, TRACE_EVENTS if name.endswith("-fanout") else PRESET_REQUESTS)
        leagues[name] = compare_policies(requests[0], tuple(POLICIES), progress=progress)
    return PageNumbers(leagues, measure_costs([policy for policy in POLICIES if policy != "belady"], progress))


def write_page(numbers: PageNumbers, path: Path) -> None:
    """Write the page, its numbers and its pictures beside it."""
    write_text(path, render_page(numbers))
    write_text(path.with_suffix(".json"), numbers_json(numbers))
    draw_costs(numbers.costs, path.with_name(f"{path.stem}-cost.svg"))
    for name, league in numbers.leagues.items():
        draw_curves(league, path.with_name(f"{path.stem}-{name}.svg"))


RESULT_FIELDS: Final = tuple(each.name for each in fields(PolicyResult))


def numbers_json(numbers: PageNumbers) -> str:
    """The numbers as JSON, a line a policy and capacity; processor times of single replays are left out."""
    leagues = {
        name: {
            **_comparison_fields(league),
            "table": list(map(_result_row, league.table)),
            "curve": list(map(_result_row, league.curve)),
        }
        for name, league in numbers.leagues.items()
    }
    value = {
        "measured": RESULT_FIELDS,
        "leagues": leagues,
        "costs": [list(asdict(cost).values()) for cost in numbers.costs],
    }
    return json.dumps(value).replace("], [", "],\n[") + "\n"


def _comparison_fields(league: PolicyComparison) -> dict[str, object]:
    return {each.name: getattr(league, each.name) for each in fields(league) if each.name not in ("table", "curve")}


def _result_row(measured: PolicyResult) -> list[object]:
    return [
        getattr(replace(measured, seconds=0.0, mean_bytes=round(measured.mean_bytes)), name) for name in RESULT_FIELDS
    ]


def read_numbers(path: Path) -> PageNumbers:
    """The numbers that a page was written with."""
    value = json.loads(path.read_text(encoding="utf-8"))

    def measured(rows: Sequence[Sequence[object]]) -> tuple[PolicyResult, ...]:
        return tuple(PolicyResult(**dict(zip(value["measured"], row, strict=True))) for row in rows)

    leagues = {
        name: PolicyComparison(**{**each, "table": measured(each["table"]), "curve": measured(each["curve"])})
        for name, each in value["leagues"].items()
    }
    return PageNumbers(leagues, [RequestCost(*each) for each in value["costs"]])


# --- claims
# What was said of the caches of Pulsar, each with the numbers of a league that bear on it.

PIP: Final = "PIP-430"
PR: Final = "apache/pulsar pull request 24363"


@dataclass(frozen=True)
class PageNumbers:
    """The leagues of the presets by name, and the costs."""

    leagues: Mapping[str, PolicyComparison]
    costs: Sequence[RequestCost]

    def of(self, preset: str, policy: str) -> PolicyResult:
        """The table's line of a policy."""
        return next(each for each in self.leagues[preset].table if each.policy == policy)

    def best(self, preset: str, policy: str) -> PolicyResult:
        """A policy at the largest capacity of the curve."""
        return [each for each in self.leagues[preset].curve if each.policy == policy][-1]

    def cost(self, policy: str) -> list[RequestCost]:
        """The costs of a policy, from few to many topics."""
        return [each for each in self.costs if each.policy == policy]


@dataclass(frozen=True)
class ClaimResult:
    """What the numbers say: whether the claim is confirmed, refuted or only in part so, and the numbers."""

    verdict: str
    numbers: str


@dataclass(frozen=True)
class Claim:
    """A claim, where it stands, and how it is held to the numbers; None: the model cannot test it."""

    text: str
    source: str
    hold: Callable[[PageNumbers], ClaimResult] | None
    why_not: str = ""


def claim_verdict(*confirming: bool) -> str:
    """Confirmed by all numbers, refuted by all, or mixed."""
    return "confirmed" if all(confirming) else "mixed" if any(confirming) else "refuted"


def _check_topics(numbers: PageNumbers) -> ClaimResult:
    old, new = numbers.cost("legacy"), numbers.cost("pip430:expected")
    return ClaimResult(
        claim_verdict(
            old[-1].nanos > 2 * old[0].nanos, new[-1].nanos < 10 * new[0].nanos, old[-1].looks > 2 * old[0].looks
        ),
        f"from {old[0].topics} to {old[-1].topics:,} topics a request of legacy costs "
        f"{old[-1].nanos / old[0].nanos:.1f} times as much and looks at {old[-1].looks:.1f} instead of "
        f"{old[0].looks:.2f}; of pip430:expected {new[-1].nanos / new[0].nanos:.1f} times, {new[-1].looks:.2f} "
        f"instead of {new[0].looks:.2f}",
    )


def _compare_pairs(numbers: PageNumbers, presets: Sequence[str], old: str, new: str) -> ClaimResult:
    told = [(name, numbers.of(name, old), numbers.of(name, new)) for name in presets]
    text = "; ".join(f"{name}: {old} {a.hit_ratio:.4f}, {new} {b.hit_ratio:.4f}" for name, a, b in told)
    return ClaimResult(claim_verdict(*(b.hit_ratio > a.hit_ratio for _, a, b in told)), f"hit ratios: {text}")


def _check_oldest_first(numbers: PageNumbers) -> ClaimResult:
    return _compare_pairs(numbers, ("mixed-sizes", "tail-fanout", "reconnect"), "legacy", "pip430:plain")


def _check_expected(numbers: PageNumbers) -> ClaimResult:
    return _compare_pairs(numbers, ("replay", "mixed-sizes", "tail-fanout"), "pip430:plain", "pip430:expected")


def _check_like_lru(numbers: PageNumbers) -> ClaimResult:
    plain, extend = numbers.of("zipf", "pip430:plain+backlog"), numbers.of("zipf", "pip430:extend+backlog")
    fifo, lru = numbers.of("zipf", "fifo"), numbers.of("zipf", "lru")
    return ClaimResult(
        claim_verdict(abs(extend.hits - lru.hits) < abs(plain.hits - lru.hits), extend.hits > plain.hits),
        f"zipf: with extension {extend.hit_ratio:.4f}, without {plain.hit_ratio:.4f}; lru {lru.hit_ratio:.4f}, "
        f"fifo {fifo.hit_ratio:.4f} (no time to live)",
    )


def _check_reconnect(numbers: PageNumbers) -> ClaimResult:
    pairs = [
        (flags, numbers.of("reconnect", f"pip430:{flags[0]}"), numbers.of("reconnect", f"pip430:{flags[1]}"))
        for flags in (("expected", "expected+extend"), ("plain+backlog", "extend+backlog"))
    ]
    text = "; ".join(f"{f[0]} {a.hit_ratio:.4f}, {f[1]} {b.hit_ratio:.4f}" for f, a, b in pairs)
    return ClaimResult(claim_verdict(*(b.hits > a.hits for _, a, b in pairs)), f"reconnect: {text}")


def _check_catch_up(numbers: PageNumbers) -> ClaimResult:
    names = ("legacy", "legacy:backlog", "pip430:expected")
    small = {name: numbers.of("catch-up", name) for name in names}
    large = {name: numbers.best("catch-up", name) for name in names}

    def told(of: Mapping[str, PolicyResult]) -> str:
        size = of["legacy"].capacity_bytes / 2**20
        return f"{size:.1f} MiB: " + ", ".join(f"{name} {of[name].storage_reads_an_entry:.2f}" for name in names)

    better = [of["pip430:expected"].misses < of[name].misses for of in (small, large) for name in names[:2]]
    return ClaimResult(claim_verdict(*better), f"storage reads an entry, {told(small)}; {told(large)}")


def _check_replay(numbers: PageNumbers) -> ClaimResult:
    old, new = numbers.of("replay", "legacy"), numbers.of("replay", "pip430:expected")
    return ClaimResult(
        claim_verdict(new.misses < old.misses),
        f"replay: storage reads an entry {old.storage_reads_an_entry:.4f} with legacy, "
        f"{new.storage_reads_an_entry:.4f} with pip430:expected",
    )


def _check_over(numbers: PageNumbers) -> ClaimResult:
    inline, task = numbers.of("catch-up", "pip430:expected"), numbers.of("catch-up", "pip430:expected+task")
    return ClaimResult(
        claim_verdict(inline.over_bytes == 0, task.over_bytes <= task.capacity_bytes // 50),
        f"catch-up, capacity {inline.capacity_bytes} bytes: within adds {inline.over_bytes} bytes over it, in the "
        f"task every 10 ms alone {task.over_bytes}; one pass frees {inline.overshoot_bytes} bytes more than it must",
    )


def _check_looks(numbers: PageNumbers) -> ClaimResult:
    told = [numbers.of("catch-up", f"pip430:{flags}") for flags in ("plain+backlog", "expected", "expected+extend")]
    text = ", ".join(f"{each.policy} {each.looked_an_evicted or 0:.2f}" for each in told)
    most = 7.0
    return ClaimResult(claim_verdict(*((each.looked_an_evicted or 0) < most for each in told)), f"catch-up: {text}")


CLAIMS: Final = (
    Claim("the periodic task over all caches costs much with many topics; one queue does not", f"{PIP}, {PR}", _check_topics),
    Claim("not evicting the oldest first over all ledgers costs hits", f"{PIP} (Motivation 1), {PR}", _check_oldest_first),
    Claim("sparing entries that expect reads gains hits", f"{PIP} (Goals)", _check_expected),
    Claim("extending what was accessed makes the cache behave like LRU", f"{PIP} (Goals)", _check_like_lru),
    Claim("extending what was accessed gains hits where all consumers reconnect", f"{PIP} (Goals)", _check_reconnect),
    Claim("catch-up reads of several subscriptions need fewer storage reads", f"{PIP} (Motivation 3), {PR}", _check_catch_up),
    Claim("replays of Key_Shared subscriptions need fewer storage reads", f"{PIP} (Motivation 3), {PR}", _check_replay),
    Claim("the size stays at the limit, also between passes", f"{PIP} (High Level Design)", _check_over),
    Claim("requeueing is cheap: an eviction looks at few entries (here: below 7, the extensions and one)",
          f"{PIP} (Alternatives 2)", _check_looks),
    Claim("shared buffers hold more memory than is accounted", f"{PIP} (Note About Entry Cache Size)", None,
          "requests have no buffers; `entrycache trace simulate` models it (simulate.md)"),
    Claim("contention falls with one eviction thread", PR, None, "replays have one thread"),
    Claim("less memory pressure and garbage collection", f"{PIP} (Motivation 2)", None, "no JVM is modelled"),
    Claim("lower network costs and load on BookKeeper", f"{PIP} (Motivation 3), {PR}", None,
          "storage reads are counted, what they cost is not modelled"),
)  # fmt: skip
