"""The page of the policy comparison: presets, costs of requests, and claims about Pulsar's caches.

`measure_page` runs all presets and costs and returns `PageNumbers`; `write_page` writes the page, its numbers as JSON
and its charts. A `Claim` is a published statement about the caches of Pulsar with a function that checks it against the
numbers; its `ClaimResult` is confirmed, refuted or mixed. `read_numbers` reads the numbers of a written page, so that a
test can render the page again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Final

from entrycache_league import policies, report, sources
from entrycache_league.comparison import PolicyComparison, PolicyResult, RequestCost, compare_policies, measure_costs
from entrycache_protocol.files import write_text

PRESET_REQUESTS: Final = 200_000
TRACE_EVENTS: Final = 30_000
"""The events of a preset that is recorded first."""

PAGE_HEAD: Final = """# Comparison of cache policies

The command `entrycache policies --page docs/explanation/policy-comparison.md` writes this page, and its numbers into
`policy-comparison.json`. Hits, bytes and examined entries are the same in every run. Processor times are of one run,
and only their ratios mean something.

```console
$ entrycache policies --preset catch-up                # a table on the terminal, in under two minutes
$ entrycache policies TRACE --policy pip430 --out DIR  # a recorded trace; tables and charts
$ entrycache policies FILE.oracleGeneral --policy lru  # requests that libCacheSim reads too; --write makes such a file
```

A file of requests is called `NAME.oracleGeneral` or `NAME.oracleGeneral.bin`; zstd may have compressed it (`.zst`).

The same requests go through the caches of Pulsar and through other replacement policies. An add offers an entry; a
read is a hit or a storage read. Hits and misses count reads only. The other policies take every entry that is added
or read, if it fits into the capacity at all; Pulsar's caches follow their rules. [Decisions](../decisions/league.md)
describes the policies, the assumptions, and the implementation that each policy is checked against.

| flag of pip430 | effect |
|---|---|
{flags}

A broker of each era has by default ([settings](../reference/settings.md)): {eras}. All of Pulsar's caches have a time
to live of 1 s, a task every 10 ms, watermark 0.9 and 5 requeues. The other policies have no time to live. `belady`
knows the future. It is exact for entries of one size; otherwise it is named an upper bound, which no policy need
reach.

## Claims

Each row has a claim and what the numbers below say about it. They hold for these presets and this model, not for a
broker. "Mixed" means that some of the numbers confirm the claim and others do not.

"""


def render_page(numbers: PageNumbers) -> str:
    """Render the page in Markdown."""
    flags = "\n".join(f"| `{flag}` | {text} |" for flag, text in policies.PIP430_FLAGS.items())
    eras = ", ".join(f"{era} `{policy}`" for era, policy in policies.ERA_DEFAULTS.items())
    parts = [PAGE_HEAD.format(flags=flags, eras=eras), render_claims(numbers), "## What a request costs\n"]
    parts.append(
        "The load is 10,000 adds a second. Each entry is read after 2 and 300 ms; the capacity holds half a second. "
        "All policies are compiled alike. Eviction examines entries, dead slots and, for legacy, caches.\n"
    )
    parts += [
        "![Cost of a request over topics](policy-comparison-cost.svg)\n",
        report.render_markdown_table(report.cost_rows(numbers.costs)),
    ]
    for name, comparison in numbers.comparisons.items():
        parts += [
            f"## {name}\n",
            f"{report.comparison_title(comparison)}.\n",
            f"![Miss ratio over capacity](policy-comparison-{name}.svg)\n",
        ]
        parts.append(
            report.render_markdown_table([report.COUNTED_COLUMNS, *map(report.result_cells, comparison.table)])
        )
    return "\n".join(parts)


def render_claims(numbers: PageNumbers) -> str:
    """Render the table of claims, one row for each claim."""
    lines = [("claim", "source", "here", "numbers")]
    for claim in CLAIMS:
        if claim.check is None:
            lines.append((claim.text, claim.source, "not tested", claim.why_not))
        else:
            result = claim.check(numbers)
            lines.append((claim.text, claim.source, result.verdict, result.numbers))
    return report.render_markdown_table(lines).replace("---:", "---")


def measure_page(progress: Callable[[str], None] = lambda text: None) -> PageNumbers:
    """Measure everything that the page shows."""
    comparisons = {}
    for name in sources.PRESET_NAMES:
        progress(name)
        requests = sources.preset_requests(name, TRACE_EVENTS if name.endswith("-fanout") else PRESET_REQUESTS)
        comparisons[name] = compare_policies(requests[0], tuple(policies.POLICIES), progress=progress)
    return PageNumbers(
        comparisons, measure_costs([policy for policy in policies.POLICIES if policy != "belady"], progress)
    )


def write_page(numbers: PageNumbers, path: Path) -> None:
    """Write the page, and its numbers and charts beside it."""
    write_text(path, render_page(numbers))
    write_text(path.with_suffix(".json"), numbers_json(numbers))
    report.draw_costs(numbers.costs, path.with_name(f"{path.stem}-cost.svg"))
    for name, comparison in numbers.comparisons.items():
        report.draw_curves(comparison, path.with_name(f"{path.stem}-{name}.svg"))


RESULT_FIELDS: Final = tuple(each.name for each in fields(PolicyResult))


def numbers_json(numbers: PageNumbers) -> str:
    """Return the numbers as JSON, one line for each policy and capacity, without processor times of single replays."""
    comparisons = {
        name: {
            **_comparison_fields(comparison),
            "table": list(map(_result_row, comparison.table)),
            "curve": list(map(_result_row, comparison.curve)),
        }
        for name, comparison in numbers.comparisons.items()
    }
    value = {
        "measured": RESULT_FIELDS,
        "leagues": comparisons,
        "costs": [list(asdict(cost).values()) for cost in numbers.costs],
    }
    return json.dumps(value).replace("], [", "],\n[") + "\n"


def _comparison_fields(comparison: PolicyComparison) -> dict[str, object]:
    return {
        each.name: getattr(comparison, each.name) for each in fields(comparison) if each.name not in ("table", "curve")
    }


def _result_row(result: PolicyResult) -> list[object]:
    return [getattr(replace(result, seconds=0.0, mean_bytes=round(result.mean_bytes)), name) for name in RESULT_FIELDS]


def read_numbers(path: Path) -> PageNumbers:
    """Read the numbers of a written page."""
    value = json.loads(path.read_text(encoding="utf-8"))

    def results(rows: Sequence[Sequence[object]]) -> tuple[PolicyResult, ...]:
        return tuple(PolicyResult(**dict(zip(value["measured"], row, strict=True))) for row in rows)

    comparisons = {
        name: PolicyComparison(**{**each, "table": results(each["table"]), "curve": results(each["curve"])})
        for name, each in value["leagues"].items()
    }
    return PageNumbers(comparisons, [RequestCost(*each) for each in value["costs"]])


PIP: Final = "PIP-430"
PR: Final = "apache/pulsar pull request 24363"


@dataclass(frozen=True)
class PageNumbers:
    """The comparisons of the presets by name, and the costs of requests."""

    comparisons: Mapping[str, PolicyComparison]
    costs: Sequence[RequestCost]

    def of(self, preset: str, policy: str) -> PolicyResult:
        """Return the result of a policy in the table of a preset."""
        return next(each for each in self.comparisons[preset].table if each.policy == policy)

    def best(self, preset: str, policy: str) -> PolicyResult:
        """Return the result of a policy at the largest capacity of the curve."""
        return [each for each in self.comparisons[preset].curve if each.policy == policy][-1]

    def cost(self, policy: str) -> list[RequestCost]:
        """Return the costs of a policy, from few to many topics."""
        return [each for each in self.costs if each.policy == policy]


@dataclass(frozen=True)
class ClaimResult:
    """The verdict on a claim (confirmed, refuted or mixed), and the numbers behind it."""

    verdict: str
    numbers: str


@dataclass(frozen=True)
class Claim:
    """A claim, its source, and the check against the numbers; without a check, the reason why there is none."""

    text: str
    source: str
    check: Callable[[PageNumbers], ClaimResult] | None
    why_not: str = ""


def claim_verdict(*confirming: bool) -> str:
    """Return whether all numbers confirm a claim, all refute it, or they are mixed."""
    return "confirmed" if all(confirming) else "mixed" if any(confirming) else "refuted"


def _check_topics(numbers: PageNumbers) -> ClaimResult:
    old, new = numbers.cost("legacy"), numbers.cost("pip430:expected")
    return ClaimResult(
        claim_verdict(
            old[-1].nanos > 2 * old[0].nanos, new[-1].nanos < 10 * new[0].nanos, old[-1].examined > 2 * old[0].examined
        ),
        f"from {old[0].topics} to {old[-1].topics:,} topics a request of legacy costs "
        f"{old[-1].nanos / old[0].nanos:.1f} times as much and examines {old[-1].examined:.1f} instead of "
        f"{old[0].examined:.2f}; of pip430:expected {new[-1].nanos / new[0].nanos:.1f} times, {new[-1].examined:.2f} "
        f"instead of {new[0].examined:.2f}",
    )


def _compare_pairs(numbers: PageNumbers, presets: Sequence[str], old: str, new: str) -> ClaimResult:
    pairs = [(name, numbers.of(name, old), numbers.of(name, new)) for name in presets]
    text = "; ".join(f"{name}: {old} {a.hit_ratio:.4f}, {new} {b.hit_ratio:.4f}" for name, a, b in pairs)
    return ClaimResult(claim_verdict(*(b.hit_ratio > a.hit_ratio for _, a, b in pairs)), f"hit ratios: {text}")


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

    def describe(of: Mapping[str, PolicyResult]) -> str:
        size = of["legacy"].capacity_bytes / 2**20
        return f"{size:.1f} MiB: " + ", ".join(f"{name} {of[name].storage_reads_an_entry:.2f}" for name in names)

    better = [of["pip430:expected"].misses < of[name].misses for of in (small, large) for name in names[:2]]
    return ClaimResult(claim_verdict(*better), f"storage reads an entry, {describe(small)}; {describe(large)}")


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


def _check_examined(numbers: PageNumbers) -> ClaimResult:
    results = [numbers.of("catch-up", f"pip430:{flags}") for flags in ("plain+backlog", "expected", "expected+extend")]
    text = ", ".join(f"{each.policy} {each.examined_an_eviction or 0:.2f}" for each in results)
    most = 7.0
    return ClaimResult(
        claim_verdict(*((each.examined_an_eviction or 0) < most for each in results)), f"catch-up: {text}"
    )


CLAIMS: Final = (
    Claim(
        "the periodic task over all caches costs much with many topics; one queue does not",
        f"{PIP}, {PR}",
        _check_topics,
    ),
    Claim(
        "not evicting the oldest first over all ledgers costs hits", f"{PIP} (Motivation 1), {PR}", _check_oldest_first
    ),
    Claim("sparing entries that expect reads gains hits", f"{PIP} (Goals)", _check_expected),
    Claim("requeueing accessed entries makes the cache behave like LRU", f"{PIP} (Goals)", _check_like_lru),
    Claim("requeueing accessed entries gains hits where all consumers reconnect", f"{PIP} (Goals)", _check_reconnect),
    Claim(
        "catch-up reads of several subscriptions need fewer storage reads",
        f"{PIP} (Motivation 3), {PR}",
        _check_catch_up,
    ),
    Claim("replays of Key_Shared subscriptions need fewer storage reads", f"{PIP} (Motivation 3), {PR}", _check_replay),
    Claim("the size stays at the limit, also between passes", f"{PIP} (High Level Design)", _check_over),
    Claim(
        "requeueing is cheap: an eviction examines few entries (here: below 7, the extensions and one)",
        f"{PIP} (Alternatives 2)",
        _check_examined,
    ),
    Claim(
        "shared buffers hold more memory than is accounted",
        f"{PIP} (Note About Entry Cache Size)",
        None,
        "requests have no buffers; `entrycache trace simulate` models them",
    ),
    Claim("contention falls with one eviction thread", PR, None, "replays have one thread"),
    Claim("less memory pressure and garbage collection", f"{PIP} (Motivation 2)", None, "no JVM is modelled"),
    Claim(
        "lower network costs and load on BookKeeper",
        f"{PIP} (Motivation 3), {PR}",
        None,
        "storage reads are counted, but their cost is not modelled",
    ),
)
