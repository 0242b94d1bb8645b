"""Test the mutation matrix: the changes of a toy module, their detection, and the committed table."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("z3", reason="needs the Python package z3-solver")

from entrycache_dev.matrix import detectors, run
from entrycache_dev.matrix.__main__ import render_committed
from entrycache_dev.matrix.detectors import FORMAL, is_formal
from entrycache_dev.matrix.generate import Change, generate_changes
from entrycache_dev.matrix.mutants import (
    generate_all_changes,
    list_modules,
    load_arguments,
    load_patches,
    read_source,
    sample_changes,
)
from entrycache_dev.matrix.run import (
    Line,
    ReferenceFacts,
    ask_about,
    ask_detectors,
    collect_facts,
    read_json,
    render_page,
    to_json,
)
from entrycache_evidence.core.checkout import locate_checkout
from entrycache_protocol.errors import UsageError

TOY = '''"""A toy."""

from __future__ import annotations

from enum import Enum

LEAST = 3
Size = int | None


class Kind(Enum):
    """Two."""

    ONE = 1
    TWO = 2


def lowered(count: int, floor: bool = True) -> int:
    """One fewer."""
    if floor and not count:
        return LEAST
    left = count - 1
    left = max(left, 0)
    return left if left < LEAST else told(count, left, kind=Kind.ONE)
'''

TOY_CHANGES = [
    ("constant", "3", "4"),
    ("constant", "3", "2"),
    ("constant", "1", "2"),
    ("constant", "1", "0"),
    ("constant", "2", "3"),
    ("constant", "2", "1"),
    ("constant", "True", "False"),
    ("negated condition", "floor and not count", "not (floor and not count)"),
    ("statement dropped", "if floor and not count:\n        return LEAST", "pass"),
    ("and, or", "and", "or"),
    ("operand dropped", "floor and not count", "(not count)"),
    ("operand dropped", "floor and not count", "(floor)"),
    ("negated condition", "not count", "(count)"),
    ("operator", "-", "+"),
    ("operand dropped", "count - 1", "(count)"),
    ("operand dropped", "count - 1", "(1)"),
    ("constant", "1", "2"),
    ("constant", "1", "0"),
    ("statement dropped", "left = max(left, 0)", "pass"),
    ("arguments swapped", "left, 0", "0, left"),
    ("function", "max", "min"),
    ("constant", "0", "1"),
    ("always the first", "left if left < LEAST else told(count, left, kind=Kind.ONE)", "(left)"),
    (
        "always the second",
        "left if left < LEAST else told(count, left, kind=Kind.ONE)",
        "(told(count, left, kind=Kind.ONE))",
    ),
    ("comparison", "<", "<="),
    ("comparison", "<", ">="),
    ("arguments swapped", "count, left", "left, count"),
    ("argument dropped", ", kind=Kind.ONE", ""),
    ("member", "ONE", "TWO"),
]
"""Every change of the toy, in the order of its text; none of its types, its documentation and its imports."""

SMALL = detectors.CostBound(cases=40, fast_cases=10, runs=5, depth=1, inputs=50)


def toy(source: str = TOY) -> list[Change]:
    return generate_changes("toy", source, {"Kind": ("ONE", "TWO")})


def test_every_change_of_a_toy_is_made() -> None:
    assert [(change.kind, change.old, change.new) for change in toy()] == TOY_CHANGES
    assert {change.function for change in toy()} == {"", "Kind", "lowered"}


def test_a_change_is_where_its_line_says_and_nowhere_else() -> None:
    for change in toy():
        before, after = TOY.split("\n"), change.whole.split("\n")
        assert before[: change.line - 1] == after[: change.line - 1]
        assert change.whole != TOY
        assert change.diff(TOY)


def test_identities_outlive_moved_lines_and_end_with_their_statement() -> None:
    ids = [change.id for change in toy()]
    assert len(set(ids)) == len(ids)
    moved = TOY.replace("LEAST = 3", "OTHER = 5\n\nLEAST = 3")
    assert set(ids) < {change.id for change in toy(moved)}
    changed = {change.id for change in toy(TOY.replace("left = count - 1", "left = count - 2"))}
    assert len(set(ids) - changed) == 5


@pytest.mark.long
def test_all_changes_of_the_reference_have_names_of_their_own_and_compile() -> None:
    every = generate_all_changes()
    assert len({change.id for change in every}) == len(every) > 3_000
    for change in sample_changes(every, 300, 1):
        compile(change.whole, change.module, "exec")
    assert not [change for change in every if ".laws" in change.module or ".threads" in change.module]


@pytest.fixture(scope="module")
def small() -> ReferenceFacts:
    return collect_facts(SMALL)


def changed(module: str, old: str, new: str) -> Change:
    name = f"entrycache_reference.{module}"
    source = read_source(name)
    assert source.count(old) == 1
    return Change("x", name, "", "patch", 1, old, new, source.replace(old, new))


def test_a_change_of_a_function_is_detected_by_the_law_that_it_breaks(small: ReferenceFacts) -> None:
    change = changed("pulsar_pip430.manager", "pos != event.last", "pos == event.last")
    assert "R-INVALIDATE-" in ask_about(change, small, ("laws",))["laws"]


@pytest.mark.long
@pytest.mark.parametrize("name", ["p-release-backwards", "l-rows-bytes-at-begin", "s-rows-hide-empty"])
def test_a_change_that_only_a_definition_detects_is_detected(small: ReferenceFacts, name: str) -> None:
    """The order of returned holds, and the report of a pass, are in rows, which no law of a rule covers."""
    change = next(change for change in generate_all_changes() if change.id == name)
    assert ask_about(change, small, ("laws",))["laws"]


@pytest.mark.long
def test_a_change_of_a_table_is_detected_although_it_is_built_at_import(small: ReferenceFacts) -> None:
    change = changed("pulsar_pip430.decision", "cell is ANY or cell == fact", "cell is ANY or cell is fact or not fact")
    assert ask_about(change, small, ("laws",))
    change = changed("kafka_streams.change", "FLAG_BYTES: Final = 1", "FLAG_BYTES: Final = 2")
    assert ask_about(change, small, ("laws", "twin"), thorough=True).keys() == {"laws", "twin"}


SIZES = (
    *("p-pass-at-most-50", "p-pass-removes-at-most-50", "p-read-at-most-10", "p-hand-over-at-most-16"),
    *("p-count-capped-at-100", "p-usage-at-most-8", "p-age-modulo-1000s"),
    *("k-flush-at-most-16", "k-put-evicts-at-most-10", "k-get-counts-to-100", "k-usage-at-most-8"),
    *("l-expire-at-most-50", "l-evict-at-most-50", "l-givers-at-most-8", "l-read-at-most-16", "l-age-modulo-1000s"),
    *("s-segments-at-most-16", "s-segment-at-most-60", "s-found-in-newest-8", "s-range-at-most-50"),
)


SHORT = ("l-givers-at-most-8", "s-segment-at-most-60")


@pytest.mark.parametrize("names", [SHORT, pytest.param(SIZES, marks=pytest.mark.long)], ids=["some", "all"])
def test_bounds_that_no_small_model_reaches_are_detected_in_large_runs(
    small: ReferenceFacts, names: tuple[str, ...]
) -> None:
    """Only the stress runs check the changes; each is part of `prove` too."""
    alone = small._replace(bound=SMALL._replace(cases=0, runs=0))
    changes = [change for change in generate_all_changes() if change.id in names]
    assert len(changes) == len(names)
    assert [change.id for change in changes if not ask_about(change, alone, ("laws",)).get("laws")] == []


def test_a_change_that_hangs_raises_or_cannot_be_imported_is_detected(
    small: ReferenceFacts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "SECONDS", 0.5)
    hangs = changed("pulsar_pip430.manager", "if not event.last_inclusive:", "while not event.last_inclusive:")
    assert ask_about(hangs, small, ("laws", "twin"), thorough=True) == {"laws": "hangs"}
    raises = changed("pulsar_pip430.manager", "if not event.last_inclusive:", "if not event.inclusive:")
    assert ask_about(raises, small, ("laws",)) == {"laws": "raises AttributeError"}
    broken = changed("pulsar_pip430.change", "EMPTY_CACHE = Cache({}, 0)", "EMPTY_CACHE = Cache({})")
    assert ask_about(broken, small, ("laws",)) == {"laws": "import: TypeError"}


@pytest.mark.long
def test_an_equivalent_change_is_reported_as_undetected_and_this_process_is_unchanged(small: ReferenceFacts) -> None:
    change = changed("pulsar_pip430.manager", "pos != event.last", "not pos == event.last")
    assert ask_about(change, small, run.ALL, thorough=True) == {}
    assert detectors.laws(detect_system("pulsar-pip430"), SMALL) == ""


def detect_system(name: str):  # type: ignore[no-untyped-def]
    from entrycache_conformance.systems import SYSTEMS

    return SYSTEMS[name]


@pytest.mark.long
def test_the_expensive_detectors_detect_changes_that_only_they_check() -> None:
    change = changed("pulsar_pip430.decision", "entry.requeues < settings.max_requeues", "entry.requeues < 9")
    change = change._replace(function="has_spare_requeue")
    (detected,) = ask_detectors([change], SMALL, thorough=True)
    assert {"laws", "z3", "contracts"} <= detected.keys()


def test_a_patch_that_no_longer_applies_is_an_error(tmp_path: Path) -> None:
    text = '[[patch]]\nname = "one"\nmodule = "toy"\nnote = "."\nold = "{}"\nnew = "0"\n'
    sources = {"entrycache_reference.toy": TOY}
    (tmp_path / "toy.toml").write_text(text.format("count - 1"))
    assert [change.id for change in load_patches(sources, tmp_path)] == ["one"]
    for old, why in (("count - 7", "occurs 0 times"), ("left", "occurs 6 times")):
        (tmp_path / "toy.toml").write_text(text.format(old))
        with pytest.raises(UsageError, match=f"the patch 'one' of toy does not apply: its old text {why}"):
            load_patches(sources, tmp_path)
    (tmp_path / "toy.toml").write_text(text.format("count - 1") * 2)
    with pytest.raises(UsageError, match="two patches are called 'one'"):
        load_patches(sources, tmp_path)


def test_an_argument_about_a_former_mutant_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "equivalent.toml"
    file.write_text('[[equivalent]]\nids = ["a"]\nwhere = "f"\ntext = "x"\nbecause = "so"\n')
    assert load_arguments({"a"}, file) == {"a": "so"}
    with pytest.raises(UsageError, match="a is no change any more"):
        load_arguments({"b"}, file)


def test_the_page_distinguishes_holes_from_equivalent_changes() -> None:
    changes = toy()
    lines = [
        Line(changes[0], {"laws": "R-1"}),
        Line(changes[1], {"twin": "rows"}),
        Line(changes[2], {}, "because of that"),
    ]
    text = render_page([*lines, Line(changes[3], {})], {"toy": TOY}, 25)
    assert "**25 changes have not been tried yet.**" in text
    assert "4 changes; 1 of them change nothing. Of the other 3 formal detectors detect 1 (33.3 %)" in text
    assert "## Not detected by any formal detector: 2" in text
    assert "-LEAST = 3\n+LEAST = 2" in text
    assert read_json(to_json(lines)) == {
        changes[0].id: {"laws": "R-1"},
        changes[1].id: {"twin": "rows"},
        changes[2].id: {},
    }


def committed() -> dict[str, dict[str, str]]:
    root = locate_checkout()
    assert root is not None
    return read_json((root / "conformance/entrycache_dev/matrix/matrix.json").read_text(encoding="utf-8"))


@pytest.mark.long
def test_changes_that_a_formal_detector_detects_in_the_committed_table_are_detected() -> None:
    """A sample is detected by the same detector or an earlier one."""
    table = committed()
    changes = sample_changes(
        [change for change in generate_all_changes() if is_formal(table.get(change.id, {}))], 12, 16
    )
    now = ask_detectors(changes, detectors.QUICK)
    first = {
        change.id: next((name for name in FORMAL if name in detected), None)
        for change, detected in zip(changes, now, strict=True)
    }
    said = {change.id: next(name for name in FORMAL if name in table[change.id]) for change in changes}
    assert {id for id, name in first.items() if name is None or FORMAL.index(name) > FORMAL.index(said[id])} == set()


@pytest.mark.long
def test_the_committed_table_has_no_other_change_and_the_page_says_how_many_are_left() -> None:
    every = generate_all_changes()
    left = {change.id for change in every} - committed().keys()
    page = render_committed()
    assert committed().keys() <= {change.id for change in every}, "python -m entrycache_dev.matrix --rest --write"
    assert (f"**{len(left)} changes have not been tried yet.**" in page) == bool(left)
    load_arguments({change.id for change in every})
    assert list_modules()
