"""The class of an author: its declaration, the calls of its methods, and the messages about its mistakes."""

from __future__ import annotations

import asyncio
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest

from entrycache import Refuse, Skip, Subject, check
from entrycache_conformance.systems import SYSTEMS
from entrycache_protocol import server
from entrycache_protocol.errors import EntrycacheError
from tests.support import ROOT
from tests.support.pages import blocks

PAGE = ROOT / "docs" / "how-to/python-subject.md"


class Small(Subject):
    """Two correct operations of level `range`."""

    system = "pulsar-pip430"
    settings = ()

    def __init__(self, config: dict[str, Any]) -> None:
        self.there: set[tuple[str, tuple[int, int]]] = set()

    def insert(self, cache: str, pos: tuple[int, int], size: int, expected_reads: int | None = None) -> dict[str, bool]:
        if size < 0:
            raise Refuse
        before = len(self.there)
        self.there.add((cache, pos))
        return {"inserted": len(self.there) > before}

    def exists(self, cache: str, pos: tuple[int, int]) -> Any:
        return {"exists": (cache, pos) in self.there}


INSERT = {"op": "insert", "cache": "a", "pos": [1, 0], "size": 1}


def answer_of(subject: type[Subject], *steps: dict[str, Any], **request: Any) -> dict[str, Any]:
    """Return the answer of a class to a run, through the loop."""
    run = {"cmd": "run", "id": 7, "system": subject.system, "config": {}, "steps": steps} | request
    sink = io.StringIO()
    lines = ['{"cmd":"start","version":1}', json.dumps(run), '{"cmd":"stop"}', "never read"]
    assert server.serve_requests(server.ClassAnswerer(subject), io.StringIO("\n".join(lines)), sink) == 0
    start, answer = sink.getvalue().splitlines()
    assert subject.system in json.loads(start)["systems"]
    result: dict[str, Any] = json.loads(answer)
    assert result.pop("id") == 7
    return result


def test_public_methods_are_operations() -> None:
    class More(Small):
        limits = {"max_steps": 9}  # noqa: RUF012 -- as authors write it

        def get(self, cache: str, pos: tuple[int, int]) -> dict[str, bool]:
            return {"hit": self._has(cache, pos)}

        def _has(self, cache: str, pos: tuple[int, int]) -> bool:
            return (cache, pos) in self.there

        @staticmethod
        def helper() -> int:
            return 0

        @property
        def entries(self) -> int:
            return len(self.there)

        def leaked(self) -> int:
            return 0

    assert Small.operations == ("insert", "exists")
    assert More.operations == ("insert", "exists", "get")
    offer = server.ClassAnswerer(More).start_answer["systems"]["pulsar-pip430"]
    assert offer["limits"] == {"max_steps": 9}
    assert offer["config"] == ()


def test_no_operation_has_the_name_of_an_attribute_of_subject() -> None:
    taken = {name for name in vars(Subject) if not name.startswith("_")}
    for system in SYSTEMS.values():
        assert not taken & system.ops.keys()


def test_arguments_and_answers_are_plain_values() -> None:
    assert answer_of(Small, INSERT, INSERT, {**INSERT, "size": -1}, {"op": "exists", "cache": "a", "pos": [1, 0]}) == {
        "outcomes": [{"inserted": True}, {"inserted": False}, {"error": "illegal-argument"}, {"exists": True}]
    }


def test_steps_within_steps_are_performed() -> None:
    names: dict[str, Any] = {}
    source = next(block.text for block in blocks(PAGE) if block.file == "listeners.py")
    exec(compile(source, "listeners.py", "exec"), names)

    class Flushing(names["Listeners"]):  # type: ignore[misc]
        def flush(self, ns: str) -> dict[str, Any]:
            return {"flushed": [{"ns": ns, "entries": [], "inner": self._call(ns)}]}

    inner = [{"op": "put", "ns": "n", "key": "b", "value": "2"}, {"op": "range", "ns": "n", "from": "b", "to": None}]
    steps = [{"op": "put", "ns": "n", "key": "a", "value": "1"}, {"op": "listen", "ns": "n", "on_flush": inner}]
    assert answer_of(Flushing, *steps, {"op": "flush", "ns": "n"})["outcomes"] == [
        {},
        {},
        {"flushed": [{"ns": "n", "entries": [], "inner": [{}, {"entries": [["b", "2"]]}]}]},
    ]


def test_a_refusal_may_carry_further_keys() -> None:
    class Failing(Subject):
        system = "kafka-streams"

        def flush(self, ns: str) -> None:
            raise Refuse("listener-failed", flushed=[])

    flush = {"op": "flush", "ns": "n"}
    assert answer_of(Failing, flush)["outcomes"] == [{"error": "listener-failed", "flushed": []}]


def test_histories_are_played_on_threads() -> None:
    class Threaded(Small):
        limits = {"threads": 2}  # noqa: RUF012

    parts = {"before": [INSERT], "clients": [[INSERT], [{"op": "exists", "cache": "a", "pos": [1, 0]}]], "after": []}
    events = answer_of(Threaded, cmd="history", **parts)["events"]
    assert [(event["client"], event["step"]) for event in events] == [(-1, 0), (0, 0), (1, 0)]
    assert [event["outcome"] for event in events] == [{"inserted": True}, {"inserted": False}, {"exists": True}]
    assert (
        answer_of(Small, cmd="history", **parts)["errored"]["message"] == "histories of pulsar-pip430 are not offered"
    )


def test_a_class_can_decline_a_run() -> None:
    class Declining(Small):
        def exists(self, cache: str, pos: tuple[int, int]) -> Any:
            raise Skip("not today", "https://example.org/1")

    exists = {"op": "exists", "cache": "a", "pos": [1, 0]}
    assert answer_of(Declining, exists) == {"skipped": {"reason": "not today", "issue_url": "https://example.org/1"}}


def test_leaked_references_are_reported() -> None:
    class Leaking(Small):
        leaks = True

        def leaked(self) -> int:
            return len(self.there)

    assert answer_of(Leaking, INSERT) == {"outcomes": [{"inserted": True}], "leaked": 1}


def throws() -> dict[str, bool]:
    raise KeyError("lost")


WRONG_ANSWERS: list[tuple[Callable[[], Any], str]] = [
    (throws, "KeyError: 'lost'"),
    (lambda: {"inserted": {1}}, "TypeError: Object of type set is not JSON serializable"),
    (lambda: {"inserted": float("inf") > 0, "of": throws}, "TypeError: Object of type function"),
]


@pytest.mark.parametrize(("answer", "message"), WRONG_ANSWERS, ids=["throws", "set", "function"])
def test_a_wrong_answer_is_reported_with_its_step(answer: Callable[[], Any], message: str) -> None:
    class Wrong(Small):
        def insert(self, *arguments: Any, **named: Any) -> Any:
            return answer()

    errored = answer_of(Wrong, {"op": "exists", "cache": "a", "pos": [1, 0]}, INSERT)["errored"]
    assert errored["step"] == 1
    assert errored["message"].startswith(message)
    assert errored["traceback"]


def mistaken(**parts: Any) -> type[Subject]:
    return type("Mine", (Small,), parts)


MISTAKES: list[tuple[Any, str]] = [
    (mistaken(helper=lambda self: None), "Mine.helper: pulsar-pip430 has no operation of that name; a method of your"),
    (mistaken(system="pulsar"), "systems names 'pulsar'; expected one of: pulsar-pip430"),
    (mistaken(system=""), 'Mine names no system; it needs a line such as: system = "pulsar-pip430"'),
    (mistaken(insert=lambda self, **arguments: True), "(insert): expected an object, got True"),
    (mistaken(limits={"max_steps": "9"}), "limits.max_steps is '9', expected an integer of 1 or more"),
    (mistaken(settings=("size",)), "config names 'size', which pulsar-pip430 does not have"),
    (mistaken(introspection=("all",)), "introspection names 'all'"),
    (mistaken(limits={"max_steps": {1}}), "what Mine declares is not JSON: Object of type set"),
    (Small({}), "expected a class that extends Subject, got <"),
    (str, "expected a class that extends Subject, got <class 'str'>"),
    (mistaken(limits={"max_step": 9}), "limits has no 'max_step'; did you mean 'max_steps'?"),
]  # fmt: skip


@pytest.mark.parametrize(("subject", "message"), MISTAKES, ids=[message[:40] for _, message in MISTAKES])
def test_a_mistake_is_one_line(subject: Any, message: str) -> None:
    with pytest.raises(EntrycacheError) as raised:
        check(subject, levels=["range"], examples=5)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("subject", [MISTAKES[2][0], MISTAKES[7][0], str], ids=["system", "limits", "class"])
def test_serve_prints_mistakes_to_stderr(subject: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert server.serve(subject) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1


def test_an_unknown_level_is_one_line() -> None:
    with pytest.raises(EntrycacheError, match="unknown level 'rnge'; expected one of: range, queue"):
        check(Small, levels="rnge", examples=5)


def test_a_method_without_the_arguments_of_its_operation_is_named() -> None:
    class Narrow(Small):
        def insert(self, cache: str, pos: tuple[int, int], size: int) -> Any:  # type: ignore[override]
            return {"inserted": True}

    with pytest.raises(AssertionError) as raised:
        check(Narrow, levels=["range"], examples=50)
    message = (
        "the method insert does not take the arguments of its op: got an unexpected keyword argument 'expected_reads'"
    )
    assert message in str(raised.value)


def test_a_failure_shows_the_sequence_and_leaves_a_case(tmp_path: Path) -> None:
    class Forgetful(Small):
        def exists(self, cache: str, pos: tuple[int, int]) -> Any:
            return {"exists": False}

    with pytest.raises(AssertionError) as raised:
        check(Forgetful, levels=["range"], examples=100, failures=tmp_path)
    lines = str(raised.value).splitlines()
    assert lines[0].startswith("Forgetful breaks R-READ-")
    assert lines[0].endswith("at step 1")
    assert lines[2].startswith('step 0: insert  cache="a"')
    assert lines[3].startswith('step 1: exists  cache="a"')
    assert lines[4:6] == ['  expected {"exists": true}', '  got      {"exists": false}']
    case = lines[-1].removeprefix("case file: ")
    assert [step["op"] for step in json.loads(Path(case).read_text())["steps"]] == ["insert", "exists"]


def test_an_error_of_the_implementation_shows_its_line() -> None:
    class Throwing(Small):
        def exists(self, cache: str, pos: tuple[int, int]) -> Any:
            return {"exists": {}[cache]}

    with pytest.raises(AssertionError) as raised:
        check(Throwing, levels=["range"], examples=20)
    assert "KeyError: " in str(raised.value)
    assert 'return {"exists": {}[cache]}' in str(raised.value)


class OwnEnd(BaseException):
    """An error that is no `Exception`."""


@pytest.mark.parametrize("error", [GeneratorExit, asyncio.CancelledError, OwnEnd])
def test_an_error_that_is_no_exception_is_an_error_of_the_class(error: type[BaseException]) -> None:
    """Otherwise it would end the runner, with a traceback and an exit code that means violations."""

    class Ending(Small):
        limits = {"threads": 2}  # noqa: RUF012 -- as authors write it

        def exists(self, cache: str, pos: tuple[int, int]) -> Any:
            raise error

    exists = {"op": "exists", "cache": "a", "pos": [1, 0]}
    assert answer_of(Ending, INSERT, exists)["errored"]["step"] == 1
    happened = answer_of(Ending, cmd="history", before=[], clients=[[exists], [INSERT]], after=[])
    assert error.__name__ in happened["errored"]["message"]
    with pytest.raises(AssertionError, match="Ending breaks R-LIVENESS-2"):
        check(Ending, levels=["range"], examples=20)


def test_ending_the_process_is_an_error_of_the_class() -> None:
    """Otherwise the runner would end with the exit code that the class chooses, which may be 0."""

    class Exiting(Small):
        limits = {"threads": 2}  # noqa: RUF012 -- as authors write it

        def exists(self, cache: str, pos: tuple[int, int]) -> Any:
            sys.exit(0)

    exists = {"op": "exists", "cache": "a", "pos": [1, 0]}
    errored = answer_of(Exiting, INSERT, exists)["errored"]
    assert (errored["step"], errored["message"]) == (1, "SystemExit: 0")
    happened = answer_of(Exiting, cmd="history", before=[], clients=[[exists], [INSERT]], after=[])
    assert "(exists): SystemExit: 0" in happened["errored"]["message"]
    with pytest.raises(AssertionError, match="Exiting breaks R-LIVENESS-2"):
        check(Exiting, levels=["range"], examples=20)


class OneStep(Small):
    """A subject of which one step a run can be looked at."""

    limits: ClassVar = {"max_steps": 1}


def test_too_few_steps_check_nothing() -> None:
    with pytest.raises(AssertionError, match="nothing was checked of OneStep at range"):
        check(OneStep, levels=["range"], examples=1)


def test_a_level_without_an_offered_operation_is_not_checked() -> None:
    with pytest.raises(AssertionError, match="the subject declares no operation of this level"):
        check(Small, levels=["queue"], examples=20)
