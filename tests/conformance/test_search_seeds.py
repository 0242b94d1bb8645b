"""One seed means one run, and no file is written. Of Hypothesis only what is public is used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import ROOT

PROGRAM = """
import sys
from pathlib import Path
from entrycache_conformance.search import find_failure
from entrycache_conformance.judge import Coverage
from entrycache_conformance.systems.reference import reference_subject
from entrycache_conformance.systems import SYSTEMS

def drawn():
    subject, seen = reference_subject(SYSTEMS["pulsar-pip430"]), []
    play = subject.play
    subject.play = lambda cases: [seen.extend(cases), play(cases)][1]
    menu = subject.declaration.system.cases.menu(subject.declaration.ops)
    find_failure(subject, menu, 100, 7, Coverage())
    return [(case.config, case.steps) for case in seen]

first = drawn()
Path("of_a_user.py").write_text(f"NUMBERS = {list(range(500))}")
sys.path.insert(0, ".")
import of_a_user
print(len(first), drawn() == first, "hypothesis" in sys.modules)
"""


@pytest.mark.long
def test_what_is_drawn_does_not_depend_on_what_else_is_there(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("100 True False\n", "")
    assert [path.name for path in tmp_path.iterdir() if path.name != "__pycache__"] == ["of_a_user.py"]


PRIVATE = ("hypothesis.internal", "conjecture", "hypothesis._", "_hypothesis_internal", "core.threadlocal")


def test_only_public_interfaces_of_hypothesis_are_used() -> None:
    """Versions of two years and more differ in what is private."""
    ours = [
        path
        for folder in ("conformance", "reference", "spark_checks", "tests")
        for path in ROOT.glob(f"{folder}/**/*.py")
    ]
    assert len(ours) > 500
    private = [
        (path.relative_to(ROOT).as_posix(), word)
        for path in ours
        if path != Path(__file__)
        for word in PRIVATE
        if word in path.read_text(encoding="utf-8")
    ]
    assert private == []
