"""The page of the policy comparison: defaults of each era, claims about Pulsar's caches, costs of requests, presets.

`measure_page` runs all presets, some requests of other people, and costs, and returns `PageNumbers`; `write_page`
writes the page, its numbers as JSON and its charts. `read_numbers` reads the numbers of a written page, so that a test
can render the page again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Final

from entrycache_league import policies, report, sources
from entrycache_league.claims import CLAIMS, PAIRS, PageNumbers, compare_eras, render_eras
from entrycache_league.comparison import PolicyComparison, PolicyResult, RequestCost, compare_policies, measure_costs
from entrycache_league.requests import Requests
from entrycache_protocol.files import write_text

PRESET_REQUESTS: Final = 200_000
TRACE_EVENTS: Final = 30_000
"""The events of a preset that is recorded first."""

PAGE_HEAD: Final = """# Comparison of cache policies

The command `entrycache policies --page conformance/entrycache_dev/policy-comparison.json cloudPhysicsIO.csv
twitter_cluster52.csv` writes the numbers that this page is rendered from. Hits, bytes and examined entries are the same
in every run. Processor times are of one run, and only their ratios mean something. A chart shows at most eight
policies: the defaults of each era, the optimum and well-known ones. The table below it has all.

```console
$ entrycache policies --preset catch-up                # a table on the terminal, in under two minutes
$ entrycache policies TRACE --policy pip430 --out DIR  # a recorded trace; tables and charts
$ entrycache policies FILE.oracleGeneral --policy lru  # requests that libCacheSim reads too; --write makes such a file
```

A file of requests is called `NAME.oracleGeneral` or `NAME.oracleGeneral.bin`; zstd may have compressed it (`.zst`).

The last two sections have requests of other people, which the source package of libcachesim 0.3.5 on PyPI holds in
`src/libCacheSim/data`: two hours of a disk at CloudPhysics (`cloudPhysicsIO.csv`) and nine minutes of a key-value cache
at Twitter (`twitter_cluster52.csv`). `entrycache policies cloudPhysicsIO.csv` reads them too. A write of a block or key
becomes an add of a new entry, since a topic only grows, and a read reads the entry that was added for it last; without
one, an entry from before. Twitter's file names no operations, so the first request of a key counts as its write. One
topic holds all of them, and an entry expects one read.

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

## Defaults of each era

Hit ratios of the defaults of each era, beside FIFO, LRU and the optimum (`belady`). Their capacity is a share of the
bytes of all entries. Below each table stands where an era has more hits, and where it has fewer, in percentage points.
4.0 does not cache what it reads from storage, so reads of what nobody added (zipf, cloudPhysicsIO) never hit there.
In cloudPhysicsIO and twitter_cluster52 Pulsar's caches hit as often at 5% as at 40%, so it is not the capacity that
limits them.

{tables}
## Claims

Each row has a claim and what the numbers below say about it. They hold for these presets and this model, not for a
broker. "Mixed" means that some of the numbers confirm the claim and others do not.

"""


def render_page(numbers: PageNumbers) -> str:
    """Render the page in Markdown."""
    flags = "\n".join(f"| `{flag}` | {text} |" for flag, text in policies.PIP430_FLAGS.items())
    eras = ", ".join(f"{era} `{policy}`" for era, policy in policies.ERA_DEFAULTS.items())
    tables = "\n".join(_era_table(numbers, large) for large in (False, True))
    parts = [
        PAGE_HEAD.format(flags=flags, eras=eras, tables=tables),
        render_claims(numbers),
        "## What a request costs\n",
    ]
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


def _era_table(numbers: PageNumbers, large: bool) -> str:
    pairs = "\n".join(f"- {compare_eras(numbers, *pair, large)}" for pair in PAIRS)
    return f"{report.render_markdown_table(render_eras(numbers, large))}\n{pairs}\n"


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


def measure_page(traces: Sequence[Requests] = (), progress: Callable[[str], None] = lambda text: None) -> PageNumbers:
    """Measure everything that the page shows: the presets, these other requests, and costs."""
    comparisons = {}
    for name in sources.PRESET_NAMES:
        progress(name)
        requests = sources.preset_requests(name, TRACE_EVENTS if name.endswith("-fanout") else PRESET_REQUESTS)
        comparisons[name] = compare_policies(requests[0], tuple(policies.POLICIES), progress=progress)
    for trace in traces:
        comparisons[trace.name] = compare_policies(trace, tuple(policies.POLICIES), progress=progress)
    return PageNumbers(
        comparisons, measure_costs([policy for policy in policies.POLICIES if policy != "belady"], progress)
    )


def write_page(numbers: PageNumbers, path: Path) -> None:
    """Write the page, and its numbers and charts beside it; write the numbers alone if the file is called `.json`."""
    write_text(path.with_suffix(".json"), numbers_json(numbers))
    if path.suffix != ".json":
        write_text(path, render_page(numbers))
        draw_charts(numbers, path)


def draw_charts(numbers: PageNumbers, path: Path) -> None:
    """Draw the charts of the page beside it."""
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
