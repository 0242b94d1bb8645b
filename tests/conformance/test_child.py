"""A subject in a child process that starts again."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

import pytest

from entrycache_conformance.subjects.child import Child
from entrycache_conformance.systems import SYSTEMS
from entrycache_protocol.case import Case
from entrycache_protocol.errors import BrokenAdapter, BrokenSubject
from entrycache_protocol.subject import RunResult
from entrycache_protocol.wire import parse_line
from entrycache_reference.pulsar_pip430 import Config, ops

SUBJECT: Final = """
import json, pathlib, sys, time
starts = pathlib.Path(sys.argv[1])
count = len(starts.read_text()) if starts.exists() else 0
starts.write_text("x" * (count + 1))
for line in sys.stdin:
    request = json.loads(line)
    if request["cmd"] == "start":
        time.sleep(8 if count == 1 else 0)
        offer = {"pulsar-pip430": {"ops": ["usage"]}}
        print(json.dumps({"version": 1, "systems": offer}), flush=True)
    elif request["cmd"] == "run":
        if count == 0:
            sys.exit(1)
        print(json.dumps({"id": request["id"], "outcomes": [{"entries": 0, "bytes": 0}]}), flush=True)
"""


def test_what_a_late_start_says_is_taken_for_no_answer(tmp_path: Path) -> None:
    case = Case(SYSTEMS["pulsar-pip430"], Config(), (ops.Usage(),))
    child = Child([sys.executable, "-c", SUBJECT, str(tmp_path / "starts")], timeout_seconds=5)
    try:
        with pytest.raises(BrokenSubject, match="no answer to start within 5 s"):
            child.play([case])
        assert isinstance(child.play([case])[0], RunResult)
    finally:
        child.close()


@pytest.mark.parametrize("line", ['{"id":0,"hit":1,"hit":2}', '{"id":0,"outcomes":[{"hit":true,"hit":true}]}'])
def test_a_key_that_is_reported_twice_is_named(line: str) -> None:
    with pytest.raises(BrokenSubject, match="the key 'hit' twice in one object: "):
        parse_line(line.encode())


BROKEN: Final = """
import json, sys
answers = iter(sys.argv[1:])
for line in sys.stdin:
    print("a log line", file=sys.stderr)
    print(next(answers).replace("ID", str(json.loads(line).get("id"))), flush=True)
"""

OFFER: Final = '{"version": 1, "systems": {"pulsar-pip430": {"ops": ["usage"]}}}'

RUN: Final = '{"id": ID, "broken": {"message": "the library is missing"}}'


def test_a_broken_adapter_is_no_violation_and_is_not_tried_again() -> None:
    start = '{"broken": {"message": "the library is missing"}}'
    with pytest.raises(BrokenAdapter, match=r"^the library is missing$"):
        Child([sys.executable, "-c", BROKEN, start])
    case = Case(SYSTEMS["pulsar-pip430"], Config(), (ops.Usage(),))
    child = Child([sys.executable, "-c", BROKEN, OFFER, RUN])
    with pytest.raises(BrokenAdapter, match=r"^the library is missing$"):
        child.play([case, case])
