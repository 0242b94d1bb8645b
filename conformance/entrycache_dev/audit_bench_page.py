"""The site's page of the cost of audits with its picture, and the page of a profile.

The functions take the committed results of `audit_bench` and return text, so a test can compare a page with its
numbers. Nothing is measured here.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from entrycache_dev import audit_bench
from entrycache_dev.bench.page import FAST_COLOUR, PEER_COLOUR, RELEASED_COLOUR, measurement_row
from entrycache_protocol import errors, files

AUDIT_HEAD = """# Cost of audits

This page is rendered from `conformance/entrycache_dev/audit-numbers.json`, which `python -m entrycache_dev bench-audit
--sizes {sizes} --rounds {rounds} --json` printed.

The traces are honest, from the preset `tail-fanout` with a repeated section. The master is `{master}` with {processors}
processors; {load:.1f} programs wanted a processor at the start. Every method reads each trace in turn, once to warm up
and then {rounds} times; a number is the median. Times are processor seconds of the whole process tree, with JVM and
workers, because the machine is shared. Only ratios are judged. Rates are events a second on {processors} processors.

- *Audit*: `entrycache audit`, which runs the single-pass checker in tasks of Spark.
- *Several threads*: the same files marked as recorded by several threads, which leaves some rules open.
- *DuckDB alone*: the windows of all rules in tasks of Spark, as where numba is missing; for the shortest traces only.

![Processor seconds a million events]({picture})

| what | value | target | note |
|---|---:|---|---|
"""

PROFILE_HEAD = """# Where the time of an audit goes

`python -m entrycache_dev bench-audit --profile --sizes {size} --page PAGE` writes this page.

Each question that an audit of {events:,} events of one broker asks, all rules; processor seconds of the whole process
tree, one run, `{master}`. *Scans* of the trace and *sorts* (windows with another order) are counted in the plan. For
Spark's own SQL also shuffles, seconds of
compiling, and the longest method that was generated: the JVM does not compile one of more than {jit:,} bytes, so code
generation does not pay there, whatever the plan says.

"""


def render_audit_page(numbers: audit_bench.AuditNumbers, chart: str) -> str:
    """Return the page in Markdown."""
    head = AUDIT_HEAD.format(
        sizes=",".join(str(size) for size in numbers.sizes),
        rounds=numbers.rounds,
        master=numbers.master,
        processors=numbers.processors,
        load=numbers.load,
        picture=chart,
    )
    lines = [measurement_row(item) for item in numbers.measurements]
    ways = [
        "",
        "## Each way",
        "",
        "| events | brokers | way | s a million events | s of the wall |",
        "|---:|---:|---|---:|---:|",
    ]
    ways += [
        f"| {run.events:,} | {run.brokers} | {run.way} | {run.each:.2f} | {run.cost.wall_seconds:.1f} |"
        for run in numbers.runs
    ]
    return head + "\n".join([*lines, *ways]) + "\n"


def profile_page(profile: audit_bench.AuditProfile) -> str:
    """Return the page of a profile in Markdown."""
    head = PROFILE_HEAD.format(
        size=profile.size, events=profile.events, master=profile.master, jit=audit_bench.JIT_BYTES
    )
    return head + "\n".join(profile_lines(profile)) + "\n"


def profile_lines(profile: audit_bench.AuditProfile) -> list[str]:
    """Return the table of a profile, with a line for each query and one for the sum."""
    of_spark: dict[str, list[audit_bench.QueryCost]] = {}
    for question in profile.spark_sql:
        of_spark.setdefault(question.about, []).append(question)
    lines = [
        "| question | DuckDB, s | scans | sorts | Spark SQL, s | scans | sorts | shuffles | compiling, s "
        "| longest method |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for about, own in _group_by_question(profile.duckdb).items():
        lines.append(f"| {about} | {_cost_cells(own)} | {_spark_cells(of_spark.get(about, []))} |")
    total = sum(question.cpu_seconds for question in profile.duckdb)
    other = sum(question.cpu_seconds for question in profile.spark_sql)
    lines.append(f"| all | {total:.2f} | | | {other:.2f} | | | | | |")
    return lines


def _group_by_question(questions: Sequence[audit_bench.QueryCost]) -> dict[str, list[audit_bench.QueryCost]]:
    groups: dict[str, list[audit_bench.QueryCost]] = {}
    for question in questions:
        groups.setdefault(question.about, []).append(question)
    return groups


def _cost_cells(own: Sequence[audit_bench.QueryCost]) -> str:
    seconds = sum(question.cpu_seconds for question in own)
    return f"{seconds:.2f} | {sum(q.scans for q in own)} | {sum(q.sorts for q in own)}"


def _spark_cells(own: Sequence[audit_bench.QueryCost]) -> str:
    compiling = sum(question.compile_seconds for question in own)
    method = max((question.method_bytes for question in own), default=0)
    longest = f"{method:,}" + ("" if method <= audit_bench.JIT_BYTES else " (not compiled)")
    return f"{_cost_cells(own)} | {sum(q.shuffles for q in own)} | {compiling:.2f} | {longest}"


def draw_audit_costs(numbers: audit_bench.AuditNumbers, path: Path) -> None:
    """Write the picture as SVG."""
    matplotlib = errors.import_matplotlib("bench")
    matplotlib.use("svg")
    from matplotlib import pyplot  # noqa: PLC0415

    colors = {
        audit_bench.AUDIT: FAST_COLOUR,
        audit_bench.ALONE: PEER_COLOUR,
        audit_bench.BY_COLUMN: RELEASED_COLOUR,
        audit_bench.BY_OP: "#c9c9c9",
    }
    style: dict[Any, Any] = {"svg.hashsalt": "entrycache", "svg.fonttype": "none", "font.size": 9}
    with pyplot.rc_context(style):
        figure, axes = pyplot.subplots(figsize=(8, 4), layout="constrained")
        for way, color in colors.items():
            for brokers, line in ((1, "-"), (8, "--")):
                own = [run for run in numbers.runs if run.way == way and run.brokers == brokers]
                name = f"{way}, {'one broker' if brokers == 1 else f'{brokers} brokers'}"
                axes.plot(
                    [run.events for run in own], [run.each for run in own], line, color=color, marker="o", label=name
                )
        axes.set(xscale="log", xlabel="events", ylabel="processor seconds a million events", ylim=(0, None))
        axes.grid(visible=True, which="major", alpha=0.25)
        axes.legend(frameon=False, ncols=2)
        with files.atomic_path(path) as temporary:
            figure.savefig(temporary, format="svg", metadata={"Date": None, "Creator": None})
        pyplot.close(figure)
