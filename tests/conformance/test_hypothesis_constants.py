"""One seed means one run, whatever is installed or imported, and no file is written."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis.internal.conjecture.providers import HypothesisProvider

from entrycache_conformance.generate import HOOK, NOTABLE_NUMBERS, draw_own_constants

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
print(len(first), drawn() == first)
"""


def test_what_is_drawn_does_not_depend_on_what_else_is_there(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("100 True\n", "")
    assert [path.name for path in tmp_path.iterdir() if path.name != "__pycache__"] == ["of_a_user.py"]


def test_the_tests_of_a_user_draw_as_before() -> None:
    before = getattr(HypothesisProvider, HOOK)
    with pytest.raises(KeyError), draw_own_constants():
        assert getattr(HypothesisProvider, HOOK) is not before
        raise KeyError
    assert getattr(HypothesisProvider, HOOK) is before


def test_numbers_of_our_own_are_drawn() -> None:
    from hypothesis import Phase, find, settings
    from hypothesis import strategies as st

    with draw_own_constants():
        options = settings(database=None, max_examples=2_000, phases=(Phase.generate,))
        assert find(st.integers(0, 2**40), lambda value: value == 2**31 - 1, settings=options) in NOTABLE_NUMBERS
