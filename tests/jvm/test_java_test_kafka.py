"""A case of kafka-streams as one Java file: every operation at every level, on every release; it fails where the case
does.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from entrycache_conformance.java.driver import java_test_classpath
from entrycache_conformance.java.program import CLASS_NAME, render_java_test
from entrycache_conformance.java.releases import Release, releases
from entrycache_conformance.judge import Coverage, run_reference
from entrycache_conformance.systems import SYSTEMS
from entrycache_conformance.systems.kafka_streams.system import write_outcome
from entrycache_protocol.case import case_to_json, read_case
from entrycache_protocol.errors import MissingPrerequisite, UsageError
from entrycache_reference.kafka_streams import ops
from tests.support import ROOT
from tests.support.findings import PAGES
from tests.support.jvm.cases_kafka import CASES
from tests.support.jvm.mains import Ended, run_all, run_as_it_is
from tests.support.jvm.params import newest_in_every_run

FINDINGS: Final = sorted((ROOT / "docs" / "findings").glob("kafka-*/case.json"))
NEVER_ENDS: Final = {"kafka-resize-never-ends", "kafka-fetch-walks-empty-segments"}
"""The findings whose operation ends after a minute or never; it is not waited for here."""


def _case(config: Any, rows: Any) -> dict[str, Any]:
    steps, outcomes = zip(*rows, strict=True)
    return {"system": "kafka-streams", "config": config, "steps": steps, "outcomes": outcomes}


def _finding(path: Path) -> dict[str, Any]:
    case = read_case(path, SYSTEMS)
    outcomes = [write_outcome(done.outcome) for done in run_reference(case, Coverage())]
    return {**case_to_json(case), "outcomes": outcomes}


SHOWN_RULES: Final = {
    name: _case(*case) for name, case in CASES.items() if all(step["op"] != "share" for step, _ in case[1])
}
GUIDED: Final = "a view that is written while it is open"
SHOWN_RULES[GUIDED] = {
    "system": "kafka-streams",
    "config": {},
    "steps": [
        {"op": "store_put", "store": "s", "key": "x", "value": "1"},
        {"op": "view_open", "view": "v", "store": "s"},
        {"op": "store_put", "store": "s", "key": "x", "value": "9"},
        {"op": "view_next", "view": "v"},
    ],
    "outcomes": [{}, {}, {}, {"entry": ["x", "neither"]}],
    "allowed": {3: [{"entry": ["x", "1"]}, {"entry": ["x", "9"]}]},
}
"""A release answers one of the two answers beside the one of the file."""
FAILING: Final = {path.parent.name: _finding(path) for path in FINDINGS if path.parent.name not in NEVER_ENDS}
TEXTS: Final = {
    f"Case{number}": render_java_test(case).replace(CLASS_NAME, f"Case{number}")
    for number, case in enumerate((*SHOWN_RULES.values(), *FAILING.values()))
}
NAMES: Final = dict(zip((*SHOWN_RULES, *FAILING), TEXTS, strict=True))


class OnRelease(NamedTuple):
    """The result of each case's file on a release, and the files."""

    release: Release
    sources: dict[str, Path]
    ended: dict[Path, Ended]

    def of(self, name: str) -> Ended:
        return self.ended[self.sources[name]]


@pytest.fixture(scope="module", params=newest_in_every_run(releases("kafka-streams")), ids=str)
def results(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> OnRelease:
    folder = tmp_path_factory.mktemp("kafka")
    sources = {name: folder / f"{class_name}.java" for name, class_name in NAMES.items()}
    for path in sources.values():
        path.write_text(TEXTS[path.stem], "utf-8")
    try:
        return OnRelease(
            request.param,
            sources,
            run_all(list(sources.values()), (), java_test_classpath(request.param.subject), folder),
        )
    except MissingPrerequisite as missing:
        pytest.skip(str(missing))


def test_every_op_is_shown() -> None:
    used = {step["op"] for case in SHOWN_RULES.values() for step in case["steps"]}
    assert used == {op.name for op in ops.OPS} - {"share"}


@pytest.mark.parametrize("name", SHOWN_RULES)
def test_a_release_passes_what_it_conforms_to(name: str, results: OnRelease) -> None:
    several = "conforms up to step 3, which has several right answers\n"
    assert results.of(name) == Ended(0, several if name == GUIDED else "conforms\n")


@pytest.mark.parametrize("name", FAILING)
def test_a_release_fails_where_the_case_of_a_finding_does_or_holds_as_its_page_says(
    name: str, results: OnRelease
) -> None:
    code, printed, _ = results.of(name)
    page = next(page for page in PAGES if page.name == name)
    if results.release.version not in page.fails_on:
        assert (code, printed) == (0, "conforms\n")
        return
    case = read_case(Path(FINDINGS[0].parents[1], name, "case.json"), SYSTEMS)
    last = len(case.got or case.outcomes) - 1
    assert code == 1
    assert printed.startswith(f"step {last}: ")
    assert len(printed.splitlines()) == len(("step", "expected", "got"))


@pytest.mark.long
@pytest.mark.parametrize("name", [next(iter(SHOWN_RULES)), next(iter(FAILING))])
def test_a_file_alone_ends_as_it_does_beside_others(name: str, results: OnRelease, tmp_path: Path) -> None:
    assert run_as_it_is(results.sources[name], results.release, tmp_path) == results.of(name)


def test_a_view_of_committed_data_runs_on_the_release_that_has_it(tmp_path: Path) -> None:
    case = json.loads((ROOT / "spec/examples/K-VIEW-11.json").read_text("utf-8"))
    path, newest = tmp_path / f"{CLASS_NAME}.java", releases("kafka-streams")[-1]
    path.write_text(render_java_test({**case, "config": {}}), "utf-8")
    try:
        assert run_as_it_is(path, newest, tmp_path) == Ended(0, "conforms\n")
    except MissingPrerequisite as missing:
        pytest.skip(str(missing))


def test_what_has_no_java_test_is_refused() -> None:
    share = {"op": "share", "total_bytes": 1, "threads": 1, "global_thread": False}
    with pytest.raises(UsageError, match="no Java test for the op share"):
        render_java_test({"system": "kafka-streams", "config": {}, "steps": [share], "outcomes": [{"bytes": 1}]})
