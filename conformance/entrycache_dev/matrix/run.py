"""Ask the detectors about each change in a process of its own, and keep the results as a table.

`ask_detectors` asks the cheap detectors about every change, and the expensive ones only about changes that those miss.
The second half renders the results: one line of JSON for each change, and a page with sums by function.
"""

import importlib
import json
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from entrycache_dev.matrix import detectors, generate, mutants, process
from entrycache_dev.matrix.detectors import FORMAL, is_formal
from entrycache_dev.matrix.process import ProcessDied, TimeOver, run_in_child, run_within
from entrycache_evidence.core import scheduler, stress
from entrycache_protocol.system import AnySystem

FIRST: Final = ("laws", "worlds")
"""The detectors for every change: laws in seeded cases, and bounded models within a few steps."""

OTHERS: Final = ("counts", "twin", "examples")
"""The counts of the models, our fast caches, and the examples of the rules."""

ALL: Final = (*FORMAL, *OTHERS)

SECONDS: Final = 20.0
"""The time of a detector or a lemma on a changed reference; a longer one *hangs*."""

Detections = dict[str, str]
"""The detectors that detect a change, each with what it found."""

Progress = Callable[[int], None]


class ReferenceFacts(NamedTuple):
    """Facts about the unchanged reference.

    `at_import` are functions that modules call while they are imported, and `counts` those of the bounded models, by
    system. `lemmas` and `contracts` are the functions that they call, by package, if requested.
    """

    bound: detectors.CostBound
    at_import: frozenset[str]
    counts: Mapping[str, Mapping[str, detectors.Counts]]
    lemmas: Mapping[str, Mapping[int, frozenset[str]]] = {}
    contracts: Mapping[str, frozenset[str]] = {}


def collect_facts(bound: detectors.CostBound) -> ReferenceFacts:
    """Collect the facts that the first detectors need."""
    counts = {system.name: detectors.count_models(system, bound) for system in mutants.TESTED_SYSTEMS}
    return ReferenceFacts(bound, run_in_child(functions_called_at_import), counts)


def with_calls(known: ReferenceFacts, changes: Sequence[generate.Change]) -> ReferenceFacts:
    """Add the functions that lemmas and contracts call, of the systems of these changes."""
    systems_of_changes = [
        system for system in mutants.TESTED_SYSTEMS if any(_is_about(change, system) for change in changes)
    ]
    systems = {mutants.package_of(system): system for system in systems_of_changes}
    lemmas = {package: detectors.reach_of_lemmas(package) for package in systems}
    contracts = {package: detectors.reach_of_contracts(system, package) for package, system in systems.items()}
    return known._replace(lemmas=lemmas, contracts=contracts)


def functions_called_at_import() -> frozenset[str]:
    """Return the functions that our modules call while they are imported; this imports them again."""
    for name in [name for name in sys.modules if name.startswith(process.OURS)]:
        del sys.modules[name]
    return detectors.record_calls(lambda: importlib.import_module("entrycache_dev.matrix.detectors"))


def ask_detectors(
    changes: Sequence[generate.Change],
    bound: detectors.CostBound,
    thorough: bool = False,
    report: Progress = lambda _: None,
) -> list[Detections]:
    """Ask the detectors about each change, in as many processes as there are cores.

    The expensive detectors are asked only about changes that the first ones miss, unless `thorough`.
    """
    cheap = collect_facts(bound)
    detections = scheduler.map_in_processes(
        lambda change: ask_about(change, cheap, (*FIRST, "counts"), thorough), changes, report
    )
    left = [at for at, more_detected in enumerate(detections) if thorough or not is_formal(more_detected)]
    if left:
        dear = with_calls(cheap, [changes[at] for at in left])
        rest = tuple(name for name in ALL if name not in {*FIRST, "counts"})
        before = len(changes) - len(left)
        more = scheduler.map_in_processes(
            lambda at: ask_about(changes[at], dear, rest, thorough), left, lambda done: report(before + done)
        )
        for at, more_detected in zip(left, more, strict=True):
            detections[at] = {
                name: what for name in ALL for what in [{**detections[at], **more_detected}.get(name)] if what
            }
    return detections


def ask_about(
    change: generate.Change, known: ReferenceFacts, names: Collection[str], thorough: bool = False
) -> Detections:
    """Ask these detectors about one change; the others are skipped after a formal one, unless `thorough`."""
    try:
        detections = run_in_child(lambda: _ask_in_child(change, known, names, thorough))
    except ProcessDied:
        return {"laws": "the process dies"}
    assert isinstance(detections, dict)
    return detections


def _ask_in_child(change: generate.Change, known: ReferenceFacts, names: Collection[str], thorough: bool) -> Detections:
    """Apply the change in a child and ask the detectors; after a new import, those of the new modules."""
    try:
        fresh = run_within(SECONDS, lambda: process.apply_change(change, known.at_import))
        there = importlib.import_module(__name__) if fresh else sys.modules[__name__]
    except Exception as error:
        return {"laws": f"import: {type(error).__name__}"}
    except TimeOver:
        return {"laws": "import: hangs"}
    return dict(there.ask_about_applied(change, known, names, thorough))


def ask_about_applied(
    change: generate.Change, known: ReferenceFacts, names: Collection[str], thorough: bool
) -> Detections:
    """Ask the detectors about the change in this process."""
    detections: Detections = {}
    for system in mutants.TESTED_SYSTEMS:
        if _is_about(change, system):
            for name, detector in _detectors(change, system, known, detections):
                if name in names and (thorough or not is_formal(detections)):
                    _note(detections, name, detector)
    return detections


def _is_about(change: generate.Change, system: AnySystem) -> bool:
    """Return whether the change is in the reference of the system, or below all of them."""
    others = [mutants.package_of(each) for each in mutants.TESTED_SYSTEMS if each is not system]
    return not change.module.startswith(tuple(f"{package}." for package in others))


def _detectors(
    change: generate.Change, system: AnySystem, known: ReferenceFacts, detections: Detections
) -> Iterator[tuple[str, Callable[[], str]]]:
    package, bound = mutants.package_of(system), known.bound
    yield "laws", lambda: detectors.laws(system, bound)
    yield "laws", lambda: detectors.large_runs(system)
    yield "laws", lambda: detectors.crowded_runs(system)
    for first in range(0, stress.SCALED_CASES, detectors.BLOCK):
        yield "laws", partial(detectors.scaled_cases, system, first)
    yield "worlds", lambda: _check_models(detections, system, known)
    for number in range(detectors.count_large_states(system)):
        yield "laws", partial(detectors.large_states, system, number)
    if _reaches(change, known.contracts.get(package, frozenset())):
        yield "contracts", lambda: detectors.contracts(system, package, bound.inputs)
    wanted = [number for number, reach in known.lemmas.get(package, {}).items() if _reaches(change, reach)]
    for number in wanted:  # each lemma has its own time limit, which all lemmas of a package together exceed
        yield "z3", partial(detectors.z3_lemma, number)
    if system.fast is not None and system.fast.open_with_rows is not None:
        yield "twin", lambda: detectors.fast_cache(system, bound)
    yield "examples", lambda: detectors.examples(system, bound)


def _check_models(detections: Detections, system: AnySystem, known: ReferenceFacts) -> str:
    broken, differing = detectors.bounded_models(system, known.bound, known.counts[system.name])
    if differing:
        detections["counts"] = differing
    return broken


def _reaches(change: generate.Change, reach: frozenset[str]) -> bool:
    """Return whether the change may show where these functions are called."""
    name = change.function.rpartition(".")[2]
    if name and not name[0].isupper():
        return f"{change.module}:{change.function}" in reach
    return any(called.startswith(f"{change.module}:") for called in reach)


def _note(detections: Detections, detector: str, work: Callable[[], str]) -> None:
    if detector in detections or "hangs" in detections.values():
        return
    try:
        effect = run_within(SECONDS, work)
    except Exception as error:
        effect = f"raises {type(error).__name__}"
    except TimeOver:
        effect = "hangs"
    if effect:
        detections[detector] = effect


# --- The table

AT_ONCE: Final = ("raises", "import", "hangs", "the process dies")
"""The effects of a change that any detector notices."""


class Line(NamedTuple):
    """A change and its detectors; `because` is the argument why it changes nothing."""

    change: generate.Change
    detections: Detections
    because: str = ""

    @property
    def is_formal(self) -> bool:
        """The condition that a formal detector detects it."""
        return is_formal(self.detections)

    @property
    def is_hole(self) -> bool:
        """The condition that it changes something and no formal detector detects it."""
        return not self.is_formal and not self.because

    @property
    def is_ended(self) -> bool:
        """The condition that the changed reference raises or hangs, which takes no law to detect."""
        first = next((self.detections[name] for name in FORMAL if name in self.detections), "")
        return first.startswith(AT_ONCE)


def to_json(lines: Sequence[Line]) -> str:
    """Render the committed file, one line for each change in the order of the sources."""
    lines_json = [json.dumps(_line_json(line), ensure_ascii=False) for line in lines]
    return '{\n "schema": 1,\n "changes": [\n  ' + ",\n  ".join(lines_json) + "\n ]\n}\n"


def _line_json(line: Line) -> dict[str, Any]:
    change = line.change
    place = {"id": change.id, "file": change.file, "function": change.function, "kind": change.kind}
    what = {"note": change.note} if change.note else {"old": _short(change.old), "new": _short(change.new)}
    return {**place, **what, "seen": line.detections, **({"equivalent": True} if line.because else {})}


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 100 else flat[:97] + "..."


def read_json(text: str) -> dict[str, Detections]:
    """Return the detectors of each change, by its id."""
    return {each["id"]: each["seen"] for each in json.loads(text)["changes"]}


def render_page(lines: Sequence[Line], sources: Mapping[str, str], unasked: int = 0) -> str:
    """Render the page: sums, a table by function, undetected changes, and changes that change nothing.

    `unasked` is the number of changes without an answer.
    """
    holes = [line for line in lines if line.is_hole]
    equal = [line for line in lines if line.because]
    text_lines = [*_head(lines), *_unasked(unasked), "", *_by_kind(lines), "", *_by_function(lines), ""]
    text_lines += [f"## Not detected by any formal detector: {len(holes)}", ""]
    text_lines += [text for line in holes for text in _render_change(line, sources)]
    text_lines += [f"## Changes that change nothing: {len(equal)}", ""]
    text_lines += [text for line in equal for text in _render_change(line, sources)]
    return "\n".join(text_lines).rstrip() + "\n"


HEAD: Final = """# The mutation matrix

This page is rendered from `conformance/entrycache_dev/matrix/matrix.json`, which `python -m entrycache_dev.matrix
--write` writes.

A tool makes every one-token change of the reference: its states, operations, passes, tables, rows and variants, but
not its laws. The patches of `conformance/entrycache_dev/matrix/patches` are larger changes. The matrix says which
detector detects each change:

- **laws**: seeded cases of every workload profile, level and variant, then the stress runs of `prove`. A reference
  that hangs or raises is counted here too, and under *ends* below
- **bounded models**: the same laws in the bounded models of a pull request, within two steps of their first state
- **contracts**: the contracts of CrossHair on plain inputs; **z3**: the lemmas that call the changed function
- **counts**: the states and transitions of those models differ; **fast cache**: our fast cache answers differently or
  reports other rows; **examples**: the committed answers in `spec/examples` differ

The first four are *formal*: they know the rules, but neither a second implementation nor committed answers. Detectors
are asked in this order, the later ones only about what the earlier ones miss. A column counts what its detector is
the first to detect."""


def count_detected(lines: Iterable[Line]) -> tuple[int, int]:
    """Count the changes that a formal detector detects, and all that change something."""
    real = [line for line in lines if not line.because]
    return sum(line.is_formal for line in real), len(real)


def _head(lines: Sequence[Line]) -> list[str]:
    detected, real = count_detected(lines)
    seen_running, running = count_detected(line for line in lines if not line.is_ended)
    patched, patches = count_detected(line for line in lines if line.change.kind == "patch")
    nobody = sum(not line.detections and not line.because for line in lines)
    return [
        HEAD,
        "",
        f"{len(lines)} changes; {len(lines) - real} of them change nothing. "
        f"Of the other {real} formal detectors detect {detected} ({_percent(detected, real)}); "
        f"of the {running} that neither raise nor hang, {seen_running} ({_percent(seen_running, running)}); "
        f"of the {patches} patches, {patched} ({_percent(patched, patches)}). Nothing detects {nobody}.",
    ]


def _unasked(number: int) -> list[str]:
    return ["", f"**{number} changes have not been tried yet.**"] if number else []


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "nothing to detect"


_TITLES: Final = {"worlds": "bounded models", "twin": "fast cache"}
"""The names that the page gives to detectors whose key in the table is a private word."""


def _title(detector: str) -> str:
    return _TITLES.get(detector, detector)


COLUMNS: Final = (
    "changes",
    "equal",
    "ends",
    *map(_title, FORMAL),
    *(f"only {_title(name)}" for name in OTHERS),
    "nothing",
)


def _by_kind(lines: Sequence[Line]) -> list[str]:
    kinds = sorted({line.change.kind for line in lines})
    return _table("kind", [(kind, [line for line in lines if line.change.kind == kind]) for kind in kinds])


def _by_function(lines: Sequence[Line]) -> list[str]:
    places = list(dict.fromkeys((line.change.file, line.change.function) for line in lines))
    groups = [
        (
            f"{file} {function}".strip(),
            [line for line in lines if (line.change.file, line.change.function) == (file, function)],
        )
        for file, function in places
    ]
    return _table("function", groups)


def _table(name: str, groups: Sequence[tuple[str, list[Line]]]) -> list[str]:
    rows = [f"| {name} | {' | '.join(COLUMNS)} |", f"|---|{'---:|' * len(COLUMNS)}"]
    return rows + [f"| {title} | {' | '.join(_count_columns(lines))} |" for title, lines in groups]


def _count_columns(lines: Sequence[Line]) -> list[str]:
    counts = [len(lines), sum(bool(line.because) for line in lines), sum(line.is_ended for line in lines)]
    counts += [sum(_first(line) == name for line in lines) for name in (*FORMAL, *OTHERS, "")]
    return [str(count) if count else "" for count in counts]


def _first(line: Line) -> str | None:
    """Return the first detector of a change, empty if none; None if it ends or changes nothing."""
    if line.because or line.is_ended:
        return None
    return next((name for name in ALL if name in line.detections), "")


def _render_change(line: Line, sources: Mapping[str, str]) -> Iterator[str]:
    change = line.change
    detections = ", ".join(f"{_title(name)}: {what}" for name, what in line.detections.items())
    yield f"### `{change.id}` {change.file} {change.function}".rstrip()
    yield ""
    if change.note or line.because or detections:
        yield " ".join(
            part for part in (change.note, line.because, f"Detected by {detections}." if detections else "") if part
        )
        yield ""
    yield f"```diff\n{change.diff(sources[change.module])}\n```"
    yield ""
