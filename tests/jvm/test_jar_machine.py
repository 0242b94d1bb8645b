"""A released jar is the subject of a state machine: its answers are compared, and its rate is printed."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

SCRIPT = """
import sys
from hypothesis import HealthCheck, seed, settings
from hypothesis.stateful import run_state_machine_as_test
from entrycache import state_machine
machine = seed(0)(state_machine(sys.argv[1], level="queue"))
run_state_machine_as_test(
    machine, settings=settings(max_examples=5, database=None, deadline=None, suppress_health_check=list(HealthCheck))
)
"""


def test_a_jar_plays_examples_and_its_rate_is_printed(released_subject: Callable[[str], Any], tmp_path: Path) -> None:
    name = released_subject("pulsar:4.2.4").name
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, "pulsar:4.2.4"], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    rate = re.search(rf"entrycache: {re.escape(name)}: (\d+) steps in [\d.]+ s, (\d+) a second\n", done.stderr)
    assert rate, done.stderr
    assert int(rate[1]) > 0
    assert int(rate[2]) > 0
