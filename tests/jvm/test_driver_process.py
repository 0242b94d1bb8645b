"""The process of a driver: errors, order of answers, and the list of clock calls."""

from __future__ import annotations

import json
import subprocess

from tests.support.jvm.driver import run_request, talk
from tests.support.jvm.steps import INSERTED, get, insert


def test_an_error_in_a_step_names_it_and_the_process_lives_on(released: list[str]) -> None:
    bad, unknown, good = talk(
        released,
        run_request(1, {}, [insert(0), {"op": "get", "cache": "a"}]),
        run_request(2, {}, [{"op": "fly"}]),
        run_request(3, {}, [get(0)]),
    )
    assert (bad["id"], bad["errored"]["step"]) == (1, 1)
    assert "'pos' is missing" in bad["errored"]["message"]
    assert "at entrycache.protocol" in bad["errored"]["traceback"]
    assert unknown["errored"]["step"] == 0
    assert good == {"id": 3, "outcomes": [{"hit": False, "tokens": []}], "leaked": 0}


def test_an_answer_comes_before_the_next_request_is_sent(released: list[str]) -> None:
    with subprocess.Popen(released, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin and process.stdout
        for number in range(3):
            process.stdin.write(json.dumps(run_request(number, {}, [insert(0)])) + "\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline()) == {"id": number, "outcomes": [INSERTED], "leaked": 0}
        process.stdin.write('{"cmd":"stop"}\n')
        process.stdin.flush()
        assert process.wait(timeout=10) == 0


def test_calls_are_listed_without_input(released: list[str]) -> None:
    done = subprocess.run([*released, "--calls"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
    calls = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    assert calls["evict"] == "RangeEntryCacheManagerEvictionHandler.evictEntries"
    assert calls["cycle"] == "RangeEntryCacheManagerImpl.doCacheEviction"
    assert calls["cursor_rank"] == "ActiveManagedCursorContainer.getNumberOfCursorsAtSamePositionOrBefore"
    assert calls["remove_range"] == "RangeCache.removeRange, RangeEntryCacheManagerImpl.entriesRemoved"
