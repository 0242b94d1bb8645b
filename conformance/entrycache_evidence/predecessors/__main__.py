"""`python -m entrycache_evidence.predecessors`: write docs/explanation/predecessors.md."""

from __future__ import annotations

from collections.abc import Iterator

import click

from entrycache_evidence.predecessors.caches import CACHES, Add, Deliver, Kept, Postpone, Range, Task, Wait, Word
from entrycache_evidence.predecessors.promises import PROMISES, Broken, Promise, played, shortest
from entrycache_evidence.rulebook.registry import checkout
from entrycache_protocol.output import write_text

HEAD = """# What each cache of Pulsar gives up

Written by `python -m entrycache_evidence.predecessors`; do not edit.

Three references are asked the same little traces: [pulsar-pip430](../../spec/pulsar-pip430),
[pulsar-legacy](../../spec/pulsar-legacy) (4.0 and before) and [pulsar-segmented](../../spec/pulsar-segmented)
(PIP-174, never merged), each with its defaults but for the limit, the watermark and the time to live that
are named. Every trace of the
words of a promise is tried, the shortest first. *Keeps* means: no trace of up to so many words breaks it, which is no
proof beyond them. They are models; that the released classes answer as these do is what conformance runs tell
([PIP-430](../reference/versions.md), [before](../reference/versions-pulsar-legacy.md)). What a pass looks at is what
its rows name, and one entry more in each queue or cache in which it ends before the end; a ring has no passes. What it
costs at scale: [the league](policy-comparison.md).
"""


def page() -> str:
    """The text of the page."""
    found = {promise.title: [shortest(cache, promise) for cache in CACHES] for promise in PROMISES}
    lines = [HEAD, "| promise | " + " | ".join(cache.system for cache in CACHES) + " |", "|---|" + "---|" * len(CACHES)]
    for promise in PROMISES:
        lines.append(f"| {promise.title} | " + " | ".join(map(_verdict, found[promise.title])) + " |")
    for promise in PROMISES:
        lines += ["", *_section(promise, found[promise.title])]
    return "\n".join(lines) + "\n"


def _verdict(broken: Broken) -> str:
    if broken.trace is None:
        return f"keeps ({broken.tried:,} traces)"
    return f"breaks, {len(broken.trace)} words"


def _section(promise: Promise, found: list[Broken]) -> Iterator[str]:
    limits = promise.limits
    yield f"## {promise.title[0].upper()}{promise.title[1:]}"
    yield ""
    yield f"{(promise.keeps.__doc__ or '').removesuffix('.')} ({promise.source})."
    settings = f"watermark {limits.watermark}, time to live {limits.ttl_nanos} ns"
    yield f"Limit {limits.max_size_bytes} bytes, {settings}; traces of up to {promise.most} words."
    for cache, broken in zip(CACHES, found, strict=True):
        if broken.trace is not None:
            yield ""
            yield f"Broken by {cache.system}:"
            yield ""
            yield "| said | " + " | ".join(one.system for one in CACHES) + " |"
            yield "|---|" + "---|" * len(CACHES)
            yield from _table(promise, broken.trace)


def _table(promise: Promise, trace: tuple[Word, ...]) -> Iterator[str]:
    columns = [played(cache, trace, promise.limits) for cache in CACHES]
    for at, word in enumerate(trace):
        cells = []
        for column in columns:
            before = column[at - 1].kept if at else {}
            gone = [one for one in before if one not in column[at].kept]
            cell = " ".join(map(_name, column[at].kept)) or "empty"
            cell += f"; leaves: {' '.join(map(_name, gone))}" if gone else ""
            cell += f"; looks at {column[at].looked}" if isinstance(word, Task) else ""
            served = f"; served: {' '.join(map(str, column[at].served)) or 'nothing'}"
            cells.append(cell + (served if isinstance(word, Range) else ""))
        yield f"| {_said(word)} | {' | '.join(cells)} |"


def _name(one: Kept) -> str:
    return f"{one.cache}{one.entry}"


def _said(word: Word) -> str:
    match word:
        case Add(cache, entry, size_bytes, expected_reads):
            count = f", {expected_reads} read expected" if expected_reads else ""
            return f"write {cache}{entry}, {size_bytes} bytes{count}"
        case Wait(nanos):
            return f"wait {nanos} ns"
        case Task():
            return "the periodic task"
        case Range(cache, first, last):
            return f"read {cache}{first} to {cache}{last}"
        case Deliver(cache, entry):
            return f"{cache}{entry} is delivered"
        case Postpone(cache, entry):
            return f"{cache}{entry} is kept for a replay"


@click.command()
def main() -> None:
    """Write docs/explanation/predecessors.md of a source checkout."""
    root = checkout()
    if root is None:
        raise click.UsageError("the page belongs to a source checkout; expected to run in one")
    write_text(root / "docs" / "explanation/predecessors.md", page())


if __name__ == "__main__":
    main()
