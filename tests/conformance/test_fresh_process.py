"""A run and its earlier runs are played on exactly one fresh process."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import Final

from entrycache_conformance.judge import find_difference
from entrycache_conformance.subjects.child import Child
from entrycache_conformance.systems import SYSTEMS
from entrycache_protocol.case import Case
from entrycache_reference.pulsar_pip430 import Config, ops

WRONG_FROM_THE_FOURTH_RUN: Final = """
import json, pathlib, sys
starts = pathlib.Path(sys.argv[1])
starts.write_text((starts.read_text() if starts.exists() else "") + "x")
runs = 0
for line in sys.stdin:
    request = json.loads(line)
    if request["cmd"] == "start":
        print(json.dumps({"version": 1, "systems": {"pulsar-pip430": {"ops": ["usage"]}}}), flush=True)
    elif request["cmd"] == "run":
        runs += 1
        print(json.dumps({"id": request["id"], "outcomes": [{"entries": runs // 4, "bytes": 0}]}), flush=True)
"""


def test_a_difference_after_earlier_runs_costs_one_start(tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    case = Case(SYSTEMS["pulsar-pip430"], Config(), (ops.Usage(),))
    child = Child([sys.executable, "-c", WRONG_FROM_THE_FOURTH_RUN, str(starts)], timeout_seconds=30)
    try:
        before = len(starts.read_text())
        assert find_difference(child, dataclasses.replace(case, earlier=(case,) * 3), fresh=True) is not None
        assert len(starts.read_text()) == before + 1
        assert find_difference(child, dataclasses.replace(case, earlier=(case,) * 2), fresh=True) is None
        assert find_difference(child, case, fresh=True) is None
        assert len(starts.read_text()) == before + 3
    finally:
        child.close()
