"""One rule is tested in five processor seconds, from its text to the verdict, as CONTRIBUTING says."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.support import ROOT

SECONDS_MAX = 5.0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["pytest", "-q", "-p", "no:cacheprovider", "-k", "R-EVICT-3"], "3 passed"),
        (["entrycache_cli", "rules", "R-EVICT-3", "--check"], "0 problems"),
    ],
    ids=["pytest", "rules"],
)
def test_a_command_about_one_rule_answers_soon(arguments: list[str], said: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", *arguments], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, output
    assert said in output
    assert usage.ru_utime + usage.ru_stime < SECONDS_MAX
