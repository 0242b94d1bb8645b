"""A case is only replayed on a subject that offers what it needs, and judged by what it holds."""

from __future__ import annotations

import dataclasses
import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from entrycache_conformance.judge import Coverage, judge, run_reference
from entrycache_conformance.replay import replay_case
from entrycache_conformance.systems import SYSTEMS
from entrycache_conformance.systems.pulsar_pip430.workload import Limits
from entrycache_conformance.systems.reference import reference_subject
from entrycache_protocol.case import case_from_json
from entrycache_protocol.errors import UsageError
from entrycache_protocol.subject import InProcessSubject, RunResult, require_supported
from tests.support.command import run

GET = {"op": "get", "cache": "a", "pos": [1, 0]}
OBSERVE = {"op": "observe"}
INSERT = {"op": "insert", "cache": "a", "pos": [1, 0], "size": 10}
UNTRACKED = {"op": "cursor_add", "cache": "a", "cursor": "s", "pos": None}

SYSTEM = SYSTEMS["pulsar-pip430"]


def partial(**changes: Any) -> InProcessSubject:
    subject = reference_subject(SYSTEM)
    subject._declaration = dataclasses.replace(subject.declaration, **changes)
    return subject


def case(config: dict[str, Any], *steps: dict[str, Any]) -> Any:
    return case_from_json({"system": "pulsar-pip430", "config": config, "steps": list(steps)}, SYSTEMS)


LOWER_OPS = frozenset({"insert", "get", "evict"})


def test_a_case_that_crosses_the_trigger_needs_an_operation_of_the_level_manager() -> None:
    crossing = case({"max_size_bytes": 10}, INSERT)
    with pytest.raises(UsageError, match="above the trigger of 9: it is one of level manager"):
        require_supported(crossing, partial(ops=LOWER_OPS))
    require_supported(crossing, partial(ops=LOWER_OPS | {"cycle"}))
    require_supported(crossing, reference_subject(SYSTEM))
    require_supported(case({"max_size_bytes": 11}, INSERT), partial(ops=LOWER_OPS))
    require_supported(case({"max_size_bytes": 0}, INSERT), partial(ops=LOWER_OPS))


def test_a_null_position_is_kept_from_a_subject_that_takes_none() -> None:
    untracked = case({}, INSERT, UNTRACKED)
    require_supported(untracked, reference_subject(SYSTEM))
    with pytest.raises(UsageError, match="takes no null positions, and step 1 of the case has one"):
        require_supported(untracked, partial(limits=Limits(null_positions=False)))


def test_outcomes_that_only_python_takes_for_the_reference_s_are_stale(tmp_path: Path) -> None:
    path = tmp_path / "case.json"
    outcomes = [{"inserted": 1}, {"inserted": False}]
    path.write_text(json.dumps({"system": "pulsar-pip430", "steps": [INSERT, INSERT], "outcomes": outcomes}), "utf-8")
    assert replay_case(path, reference_subject(SYSTEM)).stale == [0]


@pytest.mark.parametrize(("value", "stale"), [("1", []), ("2", []), ("3", [3])])
def test_an_outcome_that_guides_is_stale_only_if_the_promise_forbids_it(
    value: str, stale: list[int], tmp_path: Path
) -> None:
    """A view may show either write of a key, and no third value."""
    path = tmp_path / "case.json"
    first, second = ({"op": "store_put", "store": "s", "key": "x", "value": number} for number in "12")
    opened, following = {"op": "view_open", "view": "v", "store": "s"}, {"op": "view_next", "view": "v"}
    outcomes = [{}, {}, {}, {"entry": ["x", value]}]
    steps = [first, opened, second, following]
    path.write_text(json.dumps({"system": "kafka-streams", "steps": steps, "outcomes": outcomes}), "utf-8")
    assert replay_case(path, reference_subject(SYSTEMS["kafka-streams"])).stale == stale


@pytest.mark.parametrize(
    ("config", "refused"), [({"max_size_bytes": 0}, True), ({"ttl_nanos": 0}, False), ({"max_size_bytes": 200}, False)]
)
def test_a_setting_that_the_subject_does_not_take_and_that_decides_an_answer_is_refused(
    config: dict[str, int], refused: bool
) -> None:
    """The subject never hears of it, so an answer by its own value would be called wrong."""
    words = "does not take max_size_bytes, and the case needs 0, not 134217728"
    with pytest.raises(UsageError, match=words) if refused else nullcontext():
        require_supported(case(config, INSERT), partial(config=frozenset()))


def test_an_operation_that_is_not_offered_is_named() -> None:
    with pytest.raises(UsageError, match="does not offer cursor_add, which the case needs"):
        require_supported(case({}, UNTRACKED), partial(ops=LOWER_OPS))


WITH_PAYLOAD = ("pulsar-pip430", "pulsar-legacy", "pulsar-segmented")


def judged_with_tokens(system: str, tokens: tuple[int, ...], *steps: dict[str, Any]) -> bool:
    """Return whether a subject conforms that declares `payload` and answers these tokens at the last step."""
    played = case_from_json({"system": system, "config": {}, "steps": list(steps)}, SYSTEMS)
    declaration = dataclasses.replace(reference_subject(SYSTEMS[system]).declaration, payload=True)
    done = run_reference(played, Coverage())
    outcomes = [step.outcome for step in done]
    outcomes[-1] = dataclasses.replace(outcomes[-1], tokens=tokens)
    return judge(played, done, RunResult(tuple(outcomes)), declaration) is None


@pytest.mark.parametrize("system", WITH_PAYLOAD)
def test_tokens_are_judged_only_where_the_case_gives_tokens(system: str) -> None:
    whole_range = {"op": "get_range", "cache": "a", "first": [1, 0], "last": [1, 0]}
    single = {"op": "get", "cache": "a", "pos": [1, 0]}
    for lookup in (whole_range, single):
        assert judged_with_tokens(system, (0,), INSERT, lookup)
        assert judged_with_tokens(system, (7,), {**INSERT, "token": 7}, lookup)
        assert not judged_with_tokens(system, (0,), {**INSERT, "token": 7}, lookup)
        assert not judged_with_tokens(system, (0,), lookup)


@pytest.mark.parametrize("system", WITH_PAYLOAD)
def test_a_case_with_a_token_is_kept_from_a_subject_without_payload(system: str) -> None:
    value = {"system": system, "steps": [INSERT, {**INSERT, "pos": [1, 1], "token": 0}]}
    carrying, subject = case_from_json(value, SYSTEMS), reference_subject(SYSTEMS[system])
    require_supported(carrying, subject)
    subject._declaration = dataclasses.replace(subject.declaration, payload=False)
    with pytest.raises(UsageError, match="does not declare payload, and step 1 of the case carries a token"):
        require_supported(carrying, subject)


def test_replay_of_a_case_with_a_token_checks_nothing_without_payload(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(capsys, "init", "--lang", "python")[0] == 0
    Path("case.json").write_text(json.dumps({"system": "pulsar-pip430", "steps": [{**INSERT, "token": 7}]}), "utf-8")
    code, out, err = run(capsys, "replay", "case.json", "my_cache:MyCache")
    assert (code, out, len(err.splitlines())) == (2, "", 1), err
    assert "does not declare payload" in err


@pytest.mark.parametrize("case_file", [{"steps": []}, {"before": [], "clients": [[], []], "after": []}])
@pytest.mark.parametrize("more", [[], ["--json"]])
def test_a_case_without_steps_checks_nothing(
    case_file: dict[str, Any], more: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    system = "pulsar-pip430" if "steps" in case_file else "kafka-streams"
    (tmp_path / "case.json").write_text(json.dumps({"system": system, **case_file}), "utf-8")
    code, out, err = run(capsys, "replay", str(tmp_path / "case.json"), "fast", "--system", system, *more)
    assert (code, len(err.splitlines()), "it has no steps" in err) == (2, 1, True), err
    assert "agree" not in out
    assert not more or json.loads(out)["verdict"] == "nothing-checked"


BLIND = """
from my_cache import MyCache

class Blind(MyCache):
    introspection = ()
    uncompared = {"get": ["hit"]}
"""

ONLY_BLIND = """
from entrycache import Refuse, Subject

class Blind(Subject):
    system = "pulsar-pip430"
    settings = ()
    uncompared = {"insert": ["inserted"], "get": ["hit"]}

    def __init__(self, config):
        pass

    def insert(self, cache, pos, size, expected_reads=None):
        if size < 0:
            raise Refuse
        return {}

    def get(self, cache, pos):
        return {}
"""


def test_an_operation_of_which_nothing_is_compared_does_not_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(capsys, "init", "--lang", "python")[0] == 0
    Path("blind_cache.py").write_text(BLIND, "utf-8")
    code, out, _ = run(capsys, "smoke", "blind_cache:Blind", "--json")
    ops = {name: result["verdict"] for name, result in json.loads(out)["ops"].items()}
    assert (code, ops["insert"], ops["get"], ops["observe"]) == (0, "passed", "not compared", "not compared")
    Path("only_blind_cache.py").write_text(ONLY_BLIND, "utf-8")
    code, out, err = run(capsys, "smoke", "only_blind_cache:Blind", "--json")
    assert (code, json.loads(out)["verdict"]) == (2, "nothing-checked"), err


def test_steps_of_which_nothing_is_compared_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(capsys, "init", "--lang", "python")[0] == 0
    Path("blind_cache.py").write_text(BLIND, "utf-8")
    for ops, said in (([INSERT, GET, OBSERVE], 0), ([GET, OBSERVE], 2)):
        Path("case.json").write_text(json.dumps({"system": "pulsar-pip430", "steps": ops}), "utf-8")
        code, out, err = run(capsys, "replay", "case.json", "blind_cache:Blind")
        assert code == said, err
        assert said or "agree on all 3 steps; nothing is compared at steps [1, 2]" in out
        assert not said or ("shows no answer that is compared" in err and "agree" not in out)
        assert "nothing is compared" not in run(capsys, "replay", "case.json", "fast")[1]


def test_a_failure_at_a_step_that_is_not_compared_has_not_gone_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Else `git bisect` would take a commit for good whose adapter no longer compares the answer."""
    monkeypatch.chdir(tmp_path)
    assert run(capsys, "init", "--lang", "python")[0] == 0
    Path("blind_cache.py").write_text(BLIND, "utf-8")
    answers = {"outcomes": [{"inserted": True}, {"hit": True}], "got": [{"inserted": True}, {"hit": False}]}
    Path("case.json").write_text(json.dumps({"system": "pulsar-pip430", "steps": [INSERT, GET], **answers}), "utf-8")
    code, out, err = run(capsys, "replay", "case.json", "blind_cache:Blind")
    assert (code, out) == (2, "")
    assert "case.json: of the failure at step 1, which the case shows, Blind gives nothing to compare" in err
    assert run(capsys, "replay", "case.json", "my_cache:MyCache")[0] == 0


@pytest.mark.parametrize(
    ("declared", "step", "wrong"),
    [
        ('uncompared = {"clear": ["bytes"]}', {"op": "clear", "cache": "a"}, {"bytes": 0}),
        ('introspection = ("bytes",)', OBSERVE, {"caches": {}}),
    ],
    ids=["key", "part of the state"],
)
def test_a_failure_in_a_part_that_is_not_compared_has_not_gone_away(
    declared: str,
    step: dict[str, Any],
    wrong: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The rest of the answer is compared, and shows nothing of what failed."""
    monkeypatch.chdir(tmp_path)
    assert run(capsys, "init", "--lang", "python")[0] == 0
    Path("blind_cache.py").write_text(f"from my_cache import MyCache\nclass Blind(MyCache):\n    {declared}\n", "utf-8")
    value: dict[str, Any] = {"system": "pulsar-pip430", "steps": [INSERT, step]}
    case = case_from_json(value, SYSTEMS)
    outcomes = [case.system.wire.write_outcome(done.outcome) for done in run_reference(case, Coverage())]
    value |= {"outcomes": outcomes, "got": [outcomes[0], {**outcomes[1], **wrong}]}
    Path("case.json").write_text(json.dumps(value), "utf-8")
    for more in ([], ["--as", "pytest"]):
        code, out, err = run(capsys, "replay", "case.json", "blind_cache:Blind", *more)
        assert (code, out, "of the failure at step 1" in err) == (2, "", True), err
    assert run(capsys, "replay", "case.json", "my_cache:MyCache")[0] == 0


def test_a_case_without_steps_is_no_test(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "case.json").write_text(json.dumps({"system": "pulsar-pip430", "steps": []}), "utf-8")
    code, out, err = run(capsys, "replay", str(tmp_path / "case.json"), "fast", "--as", "pytest")
    assert (code, out, "it has no steps" in err) == (2, "", True)
