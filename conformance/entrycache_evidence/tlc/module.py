"""One run of TLC: a module with its constants, and what TLC says of it."""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from entrycache_evidence.rulebook.registry import spec_folder
from entrycache_evidence.tlc.graph import Edge
from entrycache_evidence.tlc.tools import tools
from entrycache_protocol.errors import OurError

QUICK: Final = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xss16m")
"""A run is over before the compiler would have made itself fast; a pass is a deep recursion."""

CHECKED: Final = (0, 11, 12, 13)
"""Exit codes of a run that came to an end: nothing found, a deadlock, a broken invariant, a broken property."""

_COUNTS: Final = re.compile(r"(\d+) states generated, (\d+) distinct states found, 0 states left")
_BROKEN: Final = re.compile(r"Invariant \w+|Action property \w+|Temporal properties|Deadlock")

_STEP: Final = re.compile(r"State \d+: <(?!Initial)")


class Module(NamedTuple):
    """A module of `spec/formal`, and what it is run with.

    `constants` are names with TLA+ texts; one with arguments stands in place of an operator of the module.
    `config` are further lines of TLC's configuration, as `INVARIANT Sound`.
    """

    system: str
    name: str
    constants: tuple[tuple[str, str], ...]
    config: tuple[str, ...]


class Said(NamedTuple):
    """What TLC said: how many states it found, the edges it printed, and what was broken, with the behaviour."""

    states: int
    edges: tuple[Edge, ...]
    broken: str
    behaviour: tuple[str, ...]

    @property
    def goes_on(self) -> bool:
        """Whether the behaviour never ends: it comes back to a state, or stays in its last one."""
        return any("Back to state" in line or "Stuttering" in line for line in self.behaviour)

    @property
    def steps(self) -> int:
        """The steps of the behaviour."""
        return sum(_STEP.match(line) is not None for line in self.behaviour)


MOST_EDGES: Final = 250_000
"""About twice those of the largest world: a module that prints more is without the bounds of its world."""


def folder_of(system: str) -> Path:
    """Where the modules of a system stand."""
    return spec_folder() / "formal" / system


def check(module: Module, changed: Mapping[str, str] | None = None) -> Said:
    """Run TLC on a module to its end; `changed` are texts of modules that stand in place of those of `spec`.

    Raises:
        MissingPrerequisite: Java, Maven or the jar are not there.
        OurError: TLC cannot read or evaluate the module, or does not come to an end.
    """
    with tempfile.TemporaryDirectory(prefix="entrycache-tlc-") as scratch:
        folder = Path(scratch)
        for path in folder_of(module.system).glob("*.tla"):
            text = (changed or {}).get(path.stem, path.read_text(encoding="utf-8"))
            (folder / path.name).write_text(text, encoding="utf-8")
        given = [f"Given{name} == {text}" for name, text in module.constants]
        text = "\n".join(("---- MODULE Run ----", f"EXTENDS {module.name}", *given, "===="))
        (folder / "Run.tla").write_text(text, encoding="utf-8")
        names = [name.partition("(")[0] for name, _ in module.constants]
        lines = [*(f"CONSTANT {name} <- Given{name}" for name in names), *module.config]
        (folder / "Run.cfg").write_text("\n".join(lines), encoding="utf-8")
        return _said(module, *_run(folder))


def _run(folder: Path) -> tuple[int, list[Edge], list[str]]:
    """The exit code, the edges and the other lines. All that TLC writes goes into the folder."""
    own = tools()
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
                    raise OurError(f"TLC does not end: more than {MOST_EDGES} edges, expected a closed world")
            else:
                others.append(line.rstrip("\n"))
    return process.returncode, edges, others


def _said(module: Module, code: int, edges: list[Edge], lines: list[str]) -> Said:
    counts = next((found for line in lines if (found := _COUNTS.search(line))), None)
    if code not in CHECKED or (code == 0 and counts is None):
        first = next((at for at, line in enumerate(lines) if "rror" in line), 0)
        raise OurError(f"TLC could not check {module.name} (exit {code}): {' '.join(lines[first:][:12])}")
    if code == 0:
        assert counts is not None
        return Said(int(counts[2]), tuple(edges), "", ())
    start = next(at for at, line in enumerate(lines) if line.startswith("Error:"))
    broken = next((found for line in lines[start:] if (found := _BROKEN.search(line))), None)
    return Said(0, tuple(edges), lines[start] if broken is None else broken[0], tuple(lines[start:]))
