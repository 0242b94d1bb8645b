"""The page of the league: presets, costs and claims, made by one command."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Final

from entrycache_league.claims import CLAIMS, Numbers
from entrycache_league.cost import Cost, costs
from entrycache_league.league import League, play_league
from entrycache_league.picture import draw_costs, draw_curves
from entrycache_league.policies import ERAS, FLAGS, POLICIES
from entrycache_league.presets import NAMES, preset
from entrycache_league.replay import Measured
from entrycache_league.show import COUNTED, cells, cost_rows, markdown_table, title
from entrycache_protocol.output import write_text

REQUESTS: Final = 200_000
EVENTS: Final = 30_000
"""Of a preset that is recorded first."""

HEAD: Final = """# The policy league

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


def page(numbers: Numbers) -> str:
    """The page in Markdown."""
    flags = "\n".join(f"| `{flag}` | {text} |" for flag, text in FLAGS.items())
    eras = ", ".join(f"{era} `{policy}`" for era, policy in ERAS.items())
    parts = [HEAD.format(flags=flags, eras=eras), claims_table(numbers), "## What a request costs\n"]
    parts.append(
        "10,000 adds a second over so many topics, each read after 2 and 300 ms; the capacity holds half a second. "
        "Kernels are compiled alike; looks are at entries, dead slots and, of legacy, caches.\n"
    )
    parts += [
        "![Cost of a request over topics](policy-comparison-cost.svg)\n",
        markdown_table(cost_rows(numbers.costs)),
    ]
    for name, league in numbers.leagues.items():
        parts += [f"## {name}\n", f"{title(league)}.\n", f"![Miss ratio over capacity](policy-comparison-{name}.svg)\n"]
        parts.append(markdown_table([COUNTED, *map(cells, league.table)]))
    return "\n".join(parts)


def claims_table(numbers: Numbers) -> str:
    """A line a claim."""
    lines = [("claim", "source", "here", "numbers")]
    for claim in CLAIMS:
        if claim.hold is None:
            lines.append((claim.text, claim.source, "not tested", claim.why_not))
        else:
            held = claim.hold(numbers)
            lines.append((claim.text, claim.source, held.verdict, held.numbers))
    return markdown_table(lines).replace("---:", "---")


def numbers_of(progress: Callable[[str], None] = lambda text: None) -> Numbers:
    """Run all that the page tells."""
    leagues = {}
    for name in NAMES:
        progress(name)
        requests = preset(name, EVENTS if name.endswith("-fanout") else REQUESTS)
        leagues[name] = play_league(requests[0], tuple(POLICIES), progress=progress)
    return Numbers(leagues, costs([policy for policy in POLICIES if policy != "belady"], progress))


def write_page(numbers: Numbers, path: Path) -> None:
    """Write the page, its numbers and its pictures beside it."""
    write_text(path, page(numbers))
    write_text(path.with_suffix(".json"), stored(numbers))
    draw_costs(numbers.costs, path.with_name(f"{path.stem}-cost.svg"))
    for name, league in numbers.leagues.items():
        draw_curves(league, path.with_name(f"{path.stem}-{name}.svg"))


MEASURED: Final = tuple(each.name for each in fields(Measured))


def stored(numbers: Numbers) -> str:
    """The numbers as JSON, a line a policy and capacity; processor times of single replays are left out."""
    leagues = {
        name: {**_plain(league), "table": list(map(_row, league.table)), "curve": list(map(_row, league.curve))}
        for name, league in numbers.leagues.items()
    }
    value = {"measured": MEASURED, "leagues": leagues, "costs": [list(asdict(cost).values()) for cost in numbers.costs]}
    return json.dumps(value).replace("], [", "],\n[") + "\n"


def _plain(league: League) -> dict[str, object]:
    return {each.name: getattr(league, each.name) for each in fields(league) if each.name not in ("table", "curve")}


def _row(measured: Measured) -> list[object]:
    return [getattr(replace(measured, seconds=0.0, mean_bytes=round(measured.mean_bytes)), name) for name in MEASURED]


def read_numbers(path: Path) -> Numbers:
    """The numbers that a page was written with."""
    value = json.loads(path.read_text(encoding="utf-8"))

    def measured(rows: Sequence[Sequence[object]]) -> tuple[Measured, ...]:
        return tuple(Measured(**dict(zip(value["measured"], row, strict=True))) for row in rows)

    leagues = {
        name: League(**{**each, "table": measured(each["table"]), "curve": measured(each["curve"])})
        for name, each in value["leagues"].items()
    }
    return Numbers(leagues, [Cost(*each) for each in value["costs"]])
