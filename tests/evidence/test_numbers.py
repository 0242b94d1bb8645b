"""Each number and bound of the references belongs to a rule; a wrong limit of any size is reported."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from entrycache_conformance.systems import SYSTEMS
from entrycache_evidence.core import numbers
from entrycache_evidence.core.numbers import check_numbers, find_numbers
from entrycache_evidence.run import _check_numbers, _parts

IMPORT = "from entrycache_reference.vocabulary import COUNT_MAX"

WRONG = {
    "a pass looks at 50 slots at most": (
        "pulsar_pip430/passes.py",
        "while own.queue and not",
        "while own.queue and len(events) < 50 and not",
    ),
    "a pass copies 512 slots": ("pulsar_pip430/passes.py", "deque(state.queue)", "deque(state.queue, maxlen=512)"),
    "a read has 1,000 positions": (
        "pulsar_pip430/storage_reads.py",
        "numbers = range(event.first.entry, event.last.entry + 1)",
        "numbers = range(event.first.entry, event.last.entry + 1)[:1000]",
    ),
    "a rank is 500 at most": (
        "pulsar_pip430/cursors.py",
        "return sum(1 for pos in members.values() if pos is not None and pos <= own)",
        "return min(sum(1 for pos in members.values() if pos is not None and pos <= own), 500)",
    ),
    "the limit has a name": (
        "pulsar_pip430/passes.py",
        "while own.queue and not",
        "while own.queue and len(events) < COUNT_MAX and not",
    ),
    "a limit of the vocabulary": ("vocabulary.py", "2**31 - 1", "2**15 - 1"),
    "a flush has 2,000 entries": (
        "kafka_streams/flush.py",
        "others = tuple(key for key in space.dirty if key != evicted)",
        "others = tuple(key for key in space.dirty if key != evicted)[: 1 << 11]",
    ),
    "half of all bytes in integers": ("pulsar_legacy/passes.py", "PASS_SHARE: Final = 0.5", "PASS_SHARE: Final = 1"),
    "a number of a law": ("pulsar_legacy/laws/passes.py", "* 0.98)", "* 0.97)"),
    "a ring of 16 segments": ("pulsar_segmented/ring.py", "% len(state.segments)", "& len(state.segments)"),
}


def test_each_number_of_the_references_has_a_rule_or_a_reason() -> None:
    assert check_numbers() == []
    assert len({number.module for number in find_numbers()}) > 20


@pytest.mark.long
@pytest.mark.parametrize("plant", WRONG)
def test_a_wrong_bound_is_reported(plant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name, old, new = WRONG[plant]
    shutil.copytree(numbers.REFERENCE, tmp_path / "reference")
    path = tmp_path / "reference" / name
    text = path.read_text("utf-8")
    assert old in text
    text = text.replace("from collections import deque", f"from collections import deque\n{IMPORT}")
    path.write_text(text.replace(old, new, 1), "utf-8")
    monkeypatch.setattr(numbers, "REFERENCE", tmp_path / "reference")
    problems = check_numbers()
    assert problems
    assert all(name in problem.rule for problem in problems)
    _, failures = _check_numbers(name.partition("/")[0].replace("_", "-") if "/" in name else "kafka-streams")
    assert failures


def test_a_number_that_is_listed_and_gone_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    listing = tmp_path / "numbers.toml"
    listing.write_text(
        numbers.LISTING.read_text("utf-8") + '\n["pulsar_pip430.queue"]\nfirst = { "7" = "R-EVICT-8" }\n'
    )
    monkeypatch.setattr(numbers, "LISTING", listing)
    (problem,) = check_numbers()
    assert "`7` in `first` stands there 0 times, 1 times in numbers.toml" in problem.what
    listing.write_text('["vocabulary"]\nBytes = { "7" = "because" }\n')
    with pytest.raises(ValueError, match="expected a rule or a reason"):
        check_numbers()


def test_a_run_of_the_proofs_asks_for_the_numbers_of_each_system() -> None:
    parts = dict(_parts("ci", ("crosshair", "z3", "tlc")))
    assert {f"the numbers of {name}" for name in SYSTEMS} <= parts.keys()
