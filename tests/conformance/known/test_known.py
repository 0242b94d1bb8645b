"""Known failures: each state of an entry is shown on a seeded fault, and so is what --fix does about it."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar

import pytest
import tomlkit

from entrycache_conformance import explain
from entrycache_conformance.explain import error_type
from entrycache_conformance.known import (
    PROBLEMS,
    EntryCheck,
    EntryState,
    KnownReport,
    check_entry,
    conform_with_known,
    fix_file,
    identify_run,
    read_known_failures,
    write_known_failures,
)
from entrycache_conformance.levels import Profile
from entrycache_conformance.resolve import PythonSubject
from entrycache_conformance.run import Options, conform
from entrycache_conformance.search import WAIVED
from entrycache_conformance.systems import SYSTEMS
from entrycache_conformance.systems.pulsar_pip430 import fast_cache
from entrycache_conformance.systems.reference import open_reference
from entrycache_faults.model import Model
from entrycache_faults.reference.pulsar_pip430.subjects import SUBJECTS
from entrycache_protocol.errors import UsageError, Verdict
from entrycache_protocol.server import Subject
from entrycache_protocol.subject import InProcessSubject
from entrycache_reference.pulsar_pip430.outcomes import SlotView
from entrycache_reference.vocabulary import CacheName, Position

FAULT = "expire-at-the-cutoff"
CASE = {
    "system": "pulsar-pip430",
    "config": {},
    "steps": [
        {"op": "insert", "cache": "a", "pos": [1, 0], "size": 1, "token": 1},
        {"op": "expire", "older_than_nanos": 0},
    ],
}


def subject(name: str) -> InProcessSubject:
    opened = open_reference(SUBJECTS[name].model) if name in SUBJECTS else fast_cache.open_cache
    return InProcessSubject(name, SYSTEMS["pulsar-pip430"], opened, fast_cache.DECLARATION)


def entry(**changes: Any) -> dict[str, Any]:
    """Return an entry that is true of the seeded fault."""
    return {
        "rule": "R-EXPIRE-1",
        "system": "pulsar-pip430",
        "subject": FAULT,
        "versions": ["0.1.0"],
        "case": json.dumps(CASE),
        "expected": '{"entries": 0, "bytes": 0}',
        "got": '{"entries": 1, "bytes": 1}',
        "reason": "seeded",
        "issue": "https://example.org/1",
        **changes,
    }


def written(tmp_path: Path, *tables: dict[str, Any]) -> Path:
    path = tmp_path / "known.toml"
    path.write_text(tomlkit.dumps({"known": list(tables)}))
    return path


def run(path: Path, name: str = FAULT, level: str = "queue") -> KnownReport:
    options = Options((level,), Profile(60, 0, 0), 0, 0.0, path.parent / "failures")
    return conform_with_known(subject(name), options, read_known_failures(path), path.parent, lambda *progress: None)


def checked(path: Path, name: str = FAULT) -> list[EntryCheck]:
    """Return the checked entries without a search."""
    tested = subject(name)
    return [check_entry(one, path.parent, tested, identify_run(tested)) for one in read_known_failures(path)]


def states(report: KnownReport) -> list[EntryState]:
    return [one.state for one in report.checked]


@pytest.fixture(scope="module")
def known_entry(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return the entry of the failure that the search really finds, as --fix writes it."""
    folder = tmp_path_factory.mktemp("met")
    options = Options(("queue",), Profile(60, 0, 0), 0, 0.0, folder / "failures")
    report = conform_with_known(subject(FAULT), options, (), folder, lambda *progress: None)
    assert fix_file(folder / "new.toml", subject(FAULT), report) == [f"added R-EXPIRE-1 of {FAULT}: write its reason"]
    fix_file(folder / "same.toml", subject(FAULT), report)
    assert (folder / "same.toml").read_bytes() == (folder / "new.toml").read_bytes()
    (table,) = tomlkit.parse((folder / "new.toml").read_text()).unwrap()["known"]
    assert table["reason"] == "not explained yet"
    return dict(table)


@pytest.mark.long
def test_a_known_failure_fails_no_run_and_is_reported(tmp_path: Path, known_entry: dict[str, Any]) -> None:
    report = run(written(tmp_path, known_entry))
    assert states(report) == [EntryState.FAILS]
    assert report.problems == []
    assert report.report.verdict is Verdict.CONFORMS
    assert report.report.failures == ()
    (count,) = report.counts
    assert count > 1
    assert [(skip.what, skip.reason) for skip in report.report.skipped] == [(f"queue: {count} runs", WAIVED.reason)]
    assert report.report.levels["queue"].rules["R-EXPIRE-1"].verdict is Verdict.NOTHING_CHECKED


@pytest.mark.long
def test_every_rule_that_a_known_failure_may_break_is_unchecked(tmp_path: Path, known_entry: dict[str, Any]) -> None:
    path = written(tmp_path, known_entry)
    (one,) = checked(path)
    more = one._replace(rules=(*one.rules, "R-STATE-1"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("entrycache_conformance.known.check_entry", lambda *_: more)
        rules = run(path).report.levels["queue"].rules
    assert {rules[rule].verdict for rule in more.rules} == {Verdict.NOTHING_CHECKED}
    assert one.rules[0] == "R-EXPIRE-1"


def test_other_fields_of_the_elements_of_a_list_are_another_shape() -> None:
    def direction(*changes: dict[str, Any]) -> Any:
        slots = [SlotView(CacheName("a"), Position(1, at), 5, 0, 0, False, None) for at in range(2)]
        pairs = zip(slots, changes, strict=True)
        return explain._direction(tuple(slots), tuple(dataclasses.replace(one, **change) for one, change in pairs))

    marked, aged = {"accessed": True}, {"age_nanos": 1}
    assert direction(marked, {}) == direction({}, marked) == direction(marked, marked)
    assert direction(marked, {}) != direction(aged, {})


@pytest.mark.long
def test_another_case_of_the_same_defect_is_known(tmp_path: Path) -> None:
    report = run(written(tmp_path, entry(case=json.dumps({**CASE, "steps": [*CASE["steps"], {"op": "observe"}]}))))
    assert states(report) == [EntryState.FAILS]
    assert report.report.verdict is Verdict.CONFORMS
    assert run(written(tmp_path)).report.verdict is Verdict.VIOLATES


class Wrong(Subject):
    """A cache whose every answer is wrong."""

    system = "pulsar-pip430"
    settings = ()

    def __init__(self, config: Any) -> None:
        pass

    def insert(self, cache: str, pos: Any, size: int, expected_reads: Any = None) -> dict[str, Any]:
        return {"inserted": size < 0}

    def get(self, cache: str, pos: Any) -> dict[str, Any]:
        return {"hit": True}

    def usage(self, cache: str | None = None) -> dict[str, Any]:
        return {"entries": 7, "bytes": 7}


@pytest.mark.long
def test_known_failures_that_leave_nothing_to_judge_are_no_verdict(tmp_path: Path) -> None:
    path = written(tmp_path)
    options = Options(("range",), Profile(60, 0, 0), 0, 0.0, tmp_path / "failures")
    verdicts = []
    for _ in range(4):
        tested = PythonSubject(Wrong)
        report = conform_with_known(tested, options, read_known_failures(path), tmp_path, lambda *progress: None)
        verdicts.append(report.report.verdict)
        fix_file(path, tested, report)
    assert verdicts[0] is Verdict.VIOLATES
    assert verdicts[-1] is Verdict.NOTHING_CHECKED
    assert Verdict.CONFORMS not in verdicts
    assert "runs were judged to their end" in report.report.skipped[-1].reason


def test_a_run_shows_each_of_several_defects(tmp_path: Path) -> None:
    report = conform(PythonSubject(Wrong), Options(("range",), Profile(60, 0, 0), 0, 0.0, tmp_path))
    ops = {failure.failing_case.steps[failure.step].name for failure in report.failures if failure.failing_case}
    assert ops == {"insert", "get", "usage"}
    assert len({failure.rules[0] for failure in report.failures}) == len(report.failures)


class Raising(Subject):
    """A cache whose `get` raises one error for ledger 1 and, if `other` is set, another one for ledger 2."""

    system = "pulsar-pip430"
    settings = ()
    other: ClassVar[type[Exception]] = KeyError

    def __init__(self, config: Any) -> None:
        pass

    def get(self, cache: str, pos: Any) -> dict[str, Any]:
        if pos[0] > 1:
            raise self.other(pos)
        raise KeyError(pos)


def test_another_type_of_error_is_another_failure(tmp_path: Path) -> None:
    path, options = written(tmp_path), Options(("range",), Profile(60, 0, 0), 0, 0.0, tmp_path / "failures")
    first = conform_with_known(PythonSubject(Raising), options, (), tmp_path, lambda *progress: None)
    fix_file(path, PythonSubject(Raising), first)
    entries = read_known_failures(path)
    later = PythonSubject(type("Raising", (Raising,), {"other": IndexError}))
    reports = [
        conform_with_known(subject, options, entries, tmp_path, lambda *progress: None).report
        for subject in (PythonSubject(Raising), later)
    ]
    assert [len(report.failures) for report in reports] == [0, 1]
    assert "IndexError" in reports[1].failures[0].got["message"]


@pytest.mark.parametrize(
    ("message", "named"),
    [
        ("ValueError: 7", "ValueError"),
        ("java.lang.IllegalStateException: no (1,2)", "java.lang.IllegalStateException"),
        ("index out of range [5] with length 3", "index out of range"),
        ("no entry 17 in a", "no entry"),
        ("KeyError", "KeyError"),
    ],
)
def test_an_error_names_its_type(message: str, named: str) -> None:
    assert error_type(message) == named


class Silent(Raising):
    """A cache whose every lookup raises an error."""

    def exists(self, cache: str, pos: Any) -> dict[str, Any]:
        raise KeyError(pos)


def test_a_report_names_silence_once(tmp_path: Path) -> None:
    report = conform(PythonSubject(Silent), Options(("range",), Profile(60, 0, 0), 0, 0.0, tmp_path))
    assert [failure.rules for failure in report.failures] == [("R-LIVENESS-2",)]


@pytest.mark.long
def test_the_search_goes_on_past_a_known_failure(tmp_path: Path, known_entry: dict[str, Any]) -> None:
    """A second seeded fault stands behind the known one."""
    one, other = SUBJECTS[FAULT], SUBJECTS["evict-nothing-accepted"]
    twice = Model(one.package, {**one.replaced, **other.replaced})
    options = Options(("queue",), Profile(60, 0, 0), 0, 0.0, tmp_path)
    both = InProcessSubject(FAULT, SYSTEMS["pulsar-pip430"], open_reference(twice), fast_cache.DECLARATION)
    entries = read_known_failures(written(tmp_path, known_entry))
    report = conform_with_known(both, options, entries, tmp_path, lambda *progress: None)
    assert report.report.verdict is Verdict.VIOLATES
    assert [failure.rules[0] for failure in report.report.failures] == ["R-EVICT-6"]


def test_an_entry_that_passes_is_a_problem(tmp_path: Path) -> None:
    (one,) = checked(written(tmp_path, entry(subject="fast")), "fast")
    assert one.state is EntryState.PASSES
    assert one.state in PROBLEMS
    assert one.line == "entry 1 (R-EXPIRE-1, fast) passes: its case does as the rules say; remove the entry"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"got": '{"entries": 2, "bytes": 1}'}, 'the answer is {"entries": 1, "bytes": 1}, the entry says'),
        ({"got": '{"entries": true, "bytes": 1}'}, 'the answer is {"entries": 1, "bytes": 1}, the entry says'),
        ({"expected": '{"entries": 0.0, "bytes": 0}'}, 'the rules say {"entries": 0, "bytes": 0}, the entry says'),
        ({"expected": '{"entries": 1, "bytes": 0}'}, 'the rules say {"entries": 0, "bytes": 0}, the entry says'),
        ({"rule": "R-EVICT-1"}, "it breaks R-EXPIRE-1, the entry says R-EVICT-1"),
    ],
)
def test_an_entry_that_differs_is_a_problem(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    (one,) = checked(written(tmp_path, entry(**changes)))
    assert one.state is EntryState.DIFFERS
    assert said in one.line


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"subject": "no-such-cache"}, "it is about no-such-cache 0.1.0 (pulsar-pip430), and this is"),
        ({"versions": ["9.9", "8.*"]}, "9.9, 8.*"),
        ({"system": "pulsar-modern"}, "pulsar-modern"),
        ({"subject": "pulsar:1.0", "versions": ["1.0"]}, "pulsar:1.0"),
        ({"rule": "R-NONE-1"}, "there is no such rule"),
        ({"case": "nowhere.json"}, "its case cannot be played: cannot read the case"),
        ({"case": "{}"}, "its case cannot be played"),
        ({"case": "{"}, "case is not JSON"),
    ],
)
def test_an_entry_that_matches_nothing_is_a_problem(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    (one,) = checked(written(tmp_path, entry(**changes)))
    assert one.state is EntryState.MATCHES_NOTHING
    assert said in one.line


def test_entries_about_other_subjects_wait(tmp_path: Path) -> None:
    path = written(tmp_path, entry(), entry(subject="fast"), entry(subject="pulsar", versions=["4.2.*"]))
    assert [one.state for one in checked(path)] == [EntryState.FAILS, EntryState.ANOTHER, EntryState.ANOTHER]
    assert EntryState.ANOTHER not in PROBLEMS


@pytest.mark.parametrize("about", ["kafka-streams:4.3.1", "kafka-streams"])
def test_an_entry_about_a_release_of_any_system_waits_beside_others(tmp_path: Path, about: str) -> None:
    """The family of the entry's own system decides whether its release exists."""
    kafka = {"system": "kafka-streams", "subject": about, "rule": "K-FLUSH-3"}
    path = written(tmp_path, entry(), entry(**kafka, versions=["4.3.*"]), entry(**kafka, versions=["1.0"]))
    assert [one.state for one in checked(path)] == [EntryState.FAILS, EntryState.ANOTHER, EntryState.MATCHES_NOTHING]


def test_a_release_of_another_family_is_none_of_the_system(tmp_path: Path) -> None:
    (one,) = checked(written(tmp_path, entry(subject="kafka-streams:4.3.1", versions=["4.3.1"])))
    assert one.state is EntryState.MATCHES_NOTHING


def test_a_case_may_stand_in_a_file_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "case.json").write_text(json.dumps(CASE))
    assert checked(written(tmp_path, entry(case="case.json")))[0].state is EntryState.FAILS
    as_table = entry(case=CASE, expected={"entries": 0, "bytes": 0}, got={"entries": 1, "bytes": 1})
    assert checked(written(tmp_path, as_table))[0].state is EntryState.FAILS


def test_limits_keep_no_known_failure_away(tmp_path: Path) -> None:
    """A limit stands for a finding; the finding's own case is beyond it."""
    tested = InProcessSubject(
        FAULT,
        SYSTEMS["pulsar-pip430"],
        open_reference(SUBJECTS[FAULT].model),
        {**fast_cache.DECLARATION, "limits": {"max_steps": 1, "max_size": 0, "null_positions": False}},
    )
    steps = [{"op": "cursor_add", "cache": "a", "cursor": "x", "pos": None}, *CASE["steps"]]
    (one,) = read_known_failures(written(tmp_path, entry(case=json.dumps({**CASE, "steps": steps}))))
    assert check_entry(one, tmp_path, tested, identify_run(tested)).state is EntryState.FAILS


@pytest.mark.long
def test_fix_makes_the_file_true_and_leaves_the_rest_as_it_is(tmp_path: Path, known_entry: dict[str, Any]) -> None:
    path = written(
        tmp_path,
        entry(subject="fast"),
        {**known_entry, "got": "{}", "reason": "it's ours"},
        entry(subject="nothing"),
        entry(rule="R-EVICT-1"),
    )
    kept = "# Why these are known.\n" + path.read_text().replace("it's ours", "it's ours # not a remark")
    path.write_text(kept)
    report = run(path)
    assert states(report) == [EntryState.ANOTHER, EntryState.DIFFERS, EntryState.MATCHES_NOTHING, EntryState.DIFFERS]
    done = fix_file(path, subject(FAULT), report)
    assert [line.split(" ")[0] for line in done] == ["corrected", "removed", "corrected"]
    fixed = path.read_text()
    assert fixed.startswith("# Why these are known.\n")
    assert "it's ours # not a remark" in fixed
    again = run(path)
    assert states(again) == [EntryState.ANOTHER, EntryState.FAILS, EntryState.FAILS]
    assert again.report.verdict is Verdict.CONFORMS
    assert fix_file(path, subject(FAULT), again) == []
    assert path.read_text() == fixed


def test_writing_what_was_read_changes_no_byte(tmp_path: Path) -> None:
    path = written(tmp_path, entry(), entry(reason="a \"b\" 'c'\nd"))
    before = path.read_bytes()
    entries = read_known_failures(path)
    write_known_failures(path, [(one.number, one) for one in entries])
    assert path.read_bytes() == before
    write_known_failures(path, [(None, one) for one in entries])
    assert read_known_failures(path) == entries
    write_known_failures(path, [(2, dataclasses.replace(entries[1], got=None))])
    assert read_known_failures(path)[0].got is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("known = [", "are not TOML"),
        ("knwon = 1", "unknown key 'knwon'"),
        ("known = 1", "no array of tables"),
        ('[[known]]\nrule = "R-EXPIRE-1"', "entry 1 has no 'system'"),
        (tomlkit.dumps({"known": [entry(), entry(more=1)]}), "entry 2 has an unknown key 'more'"),
        (tomlkit.dumps({"known": [entry(versions="0.1.0")]}), "expected an array of strings"),
        (tomlkit.dumps({"known": [entry(versions=[])]}), "expected an array of strings"),
        (tomlkit.dumps({"known": [entry(reason=3)]}), "expected a string"),
        (tomlkit.dumps({"known": [entry(got="{")]}), "expected an outcome"),
        ("\xff", "not UTF-8"),
    ],
)
def test_a_mistake_in_the_file_is_reported(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "known.toml"
    path.write_bytes(text.encode("iso-8859-1"))
    with pytest.raises(UsageError) as raised:
        read_known_failures(path)
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


def command(*argv: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "entrycache_cli", "conform", *argv]
    return subprocess.run(line, capture_output=True, text=True, check=False, cwd=cwd)


@pytest.mark.long
def test_command(tmp_path: Path) -> None:
    initial = command(FAULT, "--level", "queue", "--known", "known.toml", "--fix", cwd=tmp_path)
    assert initial.returncode == 1
    path = tmp_path / "known.toml"
    right = path.read_text().replace("not explained yet", "seeded").replace('issue = ""', 'issue = "https://a.b/1"')
    path.write_text("".join("got = '{}'\n" if line.startswith("got = ") else line for line in right.splitlines(True)))
    first = command(FAULT, "--level", "queue", "--known", "known.toml", "--json", cwd=tmp_path)
    assert first.returncode == 1
    assert json.loads(first.stdout)["known"][0]["state"] == "differs"
    assert "entrycache: entry 1" in first.stderr
    assert "differs: the answer is" in first.stderr
    path.write_text(right)
    last = command(FAULT, "--level", "queue", "--known", "known.toml", cwd=tmp_path)
    assert (last.returncode, last.stderr) == (0, "")
    assert f"known: entry 1 (R-EXPIRE-1, {FAULT}) fails as known: seeded (https://a.b/1)" in last.stdout
    for argv, said in (
        (["--fix"], "--fix rewrites the file of --known"),
        (["--known", "none.toml"], "cannot read the known failures none.toml"),
    ):
        done = command("fast", *argv, cwd=tmp_path)
        assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
        assert said in done.stderr
