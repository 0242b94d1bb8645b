"""Run TLC on a module, and compare its graph with that of our model checker.

`run_tlc` writes a module with its constants into a scratch folder, runs TLC, and returns what it printed (`TlcResult`).
Modules of bounded models print one line for each edge. A `StateRendering` renders our own states and steps in the same
words, so that `describe_graph_difference` can compare both graphs edge by edge. The jar of TLC comes from Maven and is
pinned by a checksum.
"""

import json
import re
import subprocess
import tempfile
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

from entrycache_conformance.java import build, driver
from entrycache_evidence.core.checkout import locate_spec_folder
from entrycache_evidence.model_checker.checker import AnyBoundedModel, state_after
from entrycache_faults.model import Model
from entrycache_protocol.errors import InternalError


def render_tla(value: Any) -> str:
    """Render a value in TLA+.

    A sequence may hold anything, a mapping is a record, and None is the empty sequence.

    Raises:
        TypeError: TLA+ has no such value here.
    """
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return f'"{value}"'
    if value is None:
        return "<<>>"
    if isinstance(value, tuple | list):
        return f"<<{', '.join(map(render_tla, value))}>>"
    if isinstance(value, frozenset):
        return f"{{{', '.join(sorted(map(render_tla, value)))}}}"
    if isinstance(value, Mapping):
        return f"[{', '.join(f'{name} |-> {render_tla(part)}' for name, part in value.items())}]"
    raise TypeError(f"{value!r} has no text in TLA+")


def optional(value: Any) -> tuple[Any, ...]:
    """Return an optional value as a sequence of at most one item."""
    return () if value is None else (value,)


def render_constants(values: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Render constants by name."""
    return tuple((name, render_tla(value)) for name, value in values.items())


# --- Graphs

NUMBER: Final = re.compile(r"<<(\d+)")


class Edge(NamedTuple):
    """One step: the rendered state before, event with answer, and state after."""

    before: str
    label: str
    after: str

    @property
    def event(self) -> int:
        """The number of its event, from 1 on."""
        match = NUMBER.match(self.label)
        assert match is not None, self.label
        return int(match[1])


class StateRendering(Protocol):
    """The rendering of our states and steps in the words of a TLA+ module."""

    @property
    def events(self) -> tuple[Any, ...]:
        """Every event of the model; their numbers begin with 1."""

    def fresh(self, state: Any) -> Any:
        """Return the state as a step begins with it, without what only grows."""

    def state(self, state: Any) -> str:
        """Render a state as the module prints it."""

    def label(self, number: int, step: Any) -> str:
        """Render the answer and the counters of a step as the module prints them."""


class Graph(NamedTuple):
    """The edges of a model in the order in which they were found."""

    edges: dict[Edge, None]

    @property
    def states(self) -> frozenset[str]:
        """Every state that an edge leaves or enters."""
        return frozenset(text for edge in self.edges for text in (edge.before, edge.after))


def build_graph(edges: Iterable[Edge]) -> Graph:
    """Build the graph of these edges; equal edges are one."""
    return Graph(dict.fromkeys(edges))


def explore_edges(scope: AnyBoundedModel, rendering: StateRendering, model: Model | None = None) -> Iterator[Edge]:
    """Yield the edges of a model breadth first, by the step of the reference or of a model."""
    config = scope.config
    system, events_of, canon, start = scope.parts()
    played = model or system.model
    number_of = {event: number for number, event in enumerate(rendering.events, 1)}
    first = rendering.fresh(canon.representative(state_after(played, config, start)))
    visited, waiting = {rendering.state(first)}, deque([first])
    while waiting:
        state = waiting.popleft()
        before = rendering.state(state)
        for event in events_of(state):
            done = played.step(state, event, config)
            if not canon.follows(done):
                continue
            edge = Edge(before, rendering.label(number_of[event], done), rendering.state(done.state))
            yield edge
            if edge.after not in visited:
                visited.add(edge.after)
                waiting.append(rendering.fresh(canon.representative(done.state)))


def describe_graph_difference(ours: Graph, other: Iterable[Edge], events: tuple[Any, ...], whole: bool = True) -> str:
    """Describe the first edge that only one of both graphs has; empty if there is none.

    Edges of TLC are looked up only if our edges are complete (`whole`).
    """
    other_edges: dict[Edge, None] = {}
    for edge in other:
        other_edges[edge] = None
        if edge not in ours.edges:
            instead = next((one for one in ours.edges if one[0] == edge.before and one.event == edge.event), None)
            theirs = "no such step" if instead is None else f"{instead.label} to {instead.after}"
            what = f"from {edge.before} by {events[edge.event - 1]}"
            return f"{what}: our model checker has {edge.label} to {edge.after}, TLC {theirs}"
    for edge in ours.edges if whole else ():
        if edge not in other_edges:
            what = f"from {edge.before} by {events[edge.event - 1]}"
            return f"{what}: TLC has {edge.label} to {edge.after}, our model checker no such step"
    return ""


# --- Tools

MODULE: Final = "tlc"
"""The part of the Maven project that names the jar."""


class Tools(NamedTuple):
    """A Java runtime and the jar of TLC."""

    java: str
    jar: Path


def _keep_jar(work: Path, result: Path) -> None:
    (work / MODULE / "target" / "lib").rename(result / "lib")
    (work / MODULE / "jars.lock").rename(result / "jars.lock")


@cache
def find_tools() -> Tools:
    """Return the runtime and the jar of TLC, which is resolved once.

    Raises:
        MissingPrerequisite: Java, Maven or the jar are not there.
    """
    part = build.BuildPart(
        name=MODULE, what="jar of TLC", modules=(MODULE,), depends_on=("pom.xml", MODULE), keep=_keep_jar
    )
    (jar,) = driver.verify_jars(build.build_part(part))
    return Tools(build.find_java(build.JDK_OLDEST).program, jar)


# --- Runs of TLC

QUICK: Final = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xss16m")
"""Options for short runs that end before the compiler pays off, with room for deep recursion."""

CHECKED: Final = (0, 11, 12, 13)
"""Exit codes of a finished run: no error, a deadlock, a broken invariant, a broken property."""

_COUNTS: Final = re.compile(r"(\d+) states generated, (\d+) distinct states found, 0 states left")
_BROKEN: Final = re.compile(r"Invariant \w+|Action property \w+|Temporal properties|Deadlock")

_STEP: Final = re.compile(r"State \d+: <(?!Initial)")


class Module(NamedTuple):
    """A module of `spec/formal`, and its constants and configuration.

    `constants` are names with TLA+ texts; one with arguments replaces an operator. `config` are further lines, such as
    `INVARIANT Sound`.
    """

    system: str
    name: str
    constants: tuple[tuple[str, str], ...]
    config: tuple[str, ...]


class TlcResult(NamedTuple):
    """The output of TLC: the number of states, the printed edges, and a broken property with its behaviour."""

    states: int
    edges: tuple[Edge, ...]
    broken: str
    behaviour: tuple[str, ...]

    @property
    def goes_on(self) -> bool:
        """The condition that the behaviour never ends: it returns to a state, or stays in its last one."""
        return any("Back to state" in line or "Stuttering" in line for line in self.behaviour)

    @property
    def steps(self) -> int:
        """The number of steps of the behaviour."""
        return sum(_STEP.match(line) is not None for line in self.behaviour)


MOST_EDGES: Final = 250_000
"""About twice the edges of the largest model; a module that prints more has lost its bounds."""


def locate_modules(system: str) -> Path:
    """Return the folder of the modules of a system."""
    return locate_spec_folder() / "formal" / system


def run_tlc(module: Module, changed: Mapping[str, str] | None = None) -> TlcResult:
    """Run TLC on a module to its end; `changed` are texts that replace modules of `spec`.

    Raises:
        MissingPrerequisite: Java, Maven or the jar are not there.
        OurError: TLC cannot read or evaluate the module, or does not come to an end.
    """
    with tempfile.TemporaryDirectory(prefix="entrycache-tlc-") as scratch:
        folder = Path(scratch)
        for path in locate_modules(module.system).glob("*.tla"):
            text = (changed or {}).get(path.stem, path.read_text(encoding="utf-8"))
            (folder / path.name).write_text(text, encoding="utf-8")
        given = [f"Given{name} == {text}" for name, text in module.constants]
        text = "\n".join(("---- MODULE Run ----", f"EXTENDS {module.name}", *given, "===="))
        (folder / "Run.tla").write_text(text, encoding="utf-8")
        names = [name.partition("(")[0] for name, _ in module.constants]
        lines = [*(f"CONSTANT {name} <- Given{name}" for name in names), *module.config]
        (folder / "Run.cfg").write_text("\n".join(lines), encoding="utf-8")
        return _parse_output(module, *_run(folder))


def _run(folder: Path) -> tuple[int, list[Edge], list[str]]:
    """Run TLC in a folder that takes all its output; return the exit code, the edges and the other lines."""
    own = find_tools()
    options = ("-deadlock", "-workers", "1", "-fp", "0", "-metadir", str(folder / "states"))
    argv = [own.java, *QUICK, f"-Djava.io.tmpdir={folder}", "-cp", str(own.jar), "tlc2.TLC", *options, "Run.tla"]
    edges: list[Edge] = []
    others: list[str] = []
    with subprocess.Popen(argv, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith('"<<'):
                edges.append(Edge(*json.loads(line).replace("<< >>", "<<>>").split(" | ")))
                if len(edges) > MOST_EDGES:
                    process.kill()
                    raise InternalError(f"TLC does not end: more than {MOST_EDGES} edges, expected a closed model")
            else:
                others.append(line.rstrip("\n"))
    return process.returncode, edges, others


def _parse_output(module: Module, code: int, edges: list[Edge], lines: list[str]) -> TlcResult:
    counts = next((match for line in lines if (match := _COUNTS.search(line))), None)
    if code not in CHECKED or (code == 0 and counts is None):
        first = next((at for at, line in enumerate(lines) if "rror" in line), 0)
        raise InternalError(f"TLC could not check {module.name} (exit {code}): {' '.join(lines[first:][:12])}")
    if code == 0:
        assert counts is not None
        return TlcResult(int(counts[2]), tuple(edges), "", ())
    start = next(at for at, line in enumerate(lines) if line.startswith("Error:"))
    broken = next((match for line in lines[start:] if (match := _BROKEN.search(line))), None)
    return TlcResult(0, tuple(edges), lines[start] if broken is None else broken[0], tuple(lines[start:]))
