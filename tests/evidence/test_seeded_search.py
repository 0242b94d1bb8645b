"""Test the search matrix: a guard that is off by one is detected, and an unchanged reference is not."""

from __future__ import annotations

import json

import pytest

from entrycache_conformance.generate import record_seeded_cases
from entrycache_conformance.levels import Profile
from entrycache_conformance.systems import SYSTEMS
from entrycache_conformance.systems.pulsar_pip430.workload import WORKLOADS, WorkloadProfile
from entrycache_conformance.systems.reference import reference_subject
from entrycache_dev.matrix.generate import Change
from entrycache_dev.matrix.mutants import generate_all_changes
from entrycache_dev.matrix.search_matrix import State, ask_seeds, fingerprint, render_page
from entrycache_dev.matrix.seeded_search import SearchSettings, cases_of, find_missed_seeds, select_guards
from tests.support import ROOT

PULSAR = SYSTEMS["pulsar-pip430"]
LOOK = SearchSettings(reference_subject(PULSAR).declaration, Profile(60, 0, 0), frozenset(), quick=10)
SEEDS = 3


def change(function: str, old: str, new: str) -> Change:
    found = (one for one in select_guards(generate_all_changes(), PULSAR) if one.function == function)
    return next(one for one in found if (one.old, one.new) == (old, new))


def look_at(change: Change, of_silent: dict[str, str], known: State | None = None) -> list[State]:
    """Return every kept state, from the first seeds to the last."""
    return [state for state in all_kept(change, of_silent, known) if "begun" not in state]


def all_kept(change: Change, of_silent: dict[str, str], known: State | None = None) -> list[State]:
    kept: list[State] = []
    ask_seeds([change], LOOK, SEEDS, of_silent, known or {}, kept.append)
    return kept


def test_a_guard_that_is_off_by_one_is_seen_at_every_seed() -> None:
    strict = change("bytes_over", "<=", "<")
    assert find_missed_seeds([strict], LOOK, range(SEEDS)) == {strict.id: ()}
    assert look_at(strict, {})[-1]["unseen"] == {}


def same_as_it_was() -> Change:
    strict = change("bytes_over", "<=", "<")
    return strict._replace(
        id="same",
        whole=strict.whole.replace("<  trigger_bytes", "<= trigger_bytes").replace(
            "size_bytes < trigger_bytes(state)", "size_bytes <= trigger_bytes(state)"
        ),
    )


def test_what_changes_no_outcome_is_told_so_and_asked_no_more() -> None:
    assert look_at(same_as_it_was(), {})[-1]["silent"] == {"same": "not explained"}
    assert look_at(same_as_it_was(), {"same": "it is the same"})[-1]["silent"] == {"same": "argued"}


def test_what_only_a_trace_tells_is_told_so() -> None:
    found = change("rows_of_pass", "not event.halted", "(event.halted)")
    assert look_at(found, {})[-1]["silent"] == {found.id: "only rows of a trace"}


def test_what_only_a_variant_shows_is_asked_under_it_at_every_seed() -> None:
    found = change("is_late", ">", ">=")
    told = look_at(found, {})[-1]
    assert told["under"] == {found.id: "size_pass_rounds=one"}
    assert (told["seeds"], told["silent"]) == (SEEDS, {})


def test_a_run_that_was_stopped_goes_on_where_it_was_and_begins_anew_for_other_cases() -> None:
    strict = change("bytes_over", "<=", "<")
    first, last = look_at(strict, {})
    assert (first["seeds"], last["seeds"]) == (2, SEEDS)
    half = {**first, "unseen": {strict.id: [1]}}
    assert [one["unseen"] for one in look_at(strict, {}, half)] == [{strict.id: [1]}] * 2
    assert look_at(strict, {}, {**half, "of": "other cases"})[-1]["unseen"] == {}


def test_what_a_theme_draws_is_part_of_what_was_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    strict = change("bytes_over", "<=", "<")
    before = fingerprint([strict], LOOK)
    monkeypatch.setitem(WORKLOADS, WorkloadProfile.BOUNDARY, WORKLOADS[WorkloadProfile.DEFAULT])
    assert fingerprint([strict], LOOK) != before


def test_what_was_begun_goes_on_behind_its_last_piece() -> None:
    found = change("is_late", ">", ">=")
    kept = all_kept(found, {})
    pieces = [state for state in kept if "begun" in state]
    looks = pieces[-1]["begun"]["looks"]
    assert [state["begun"]["looks"] for state in pieces] == [looks[:many] for many in range(len(looks) + 1)]
    assert all_kept(found, {}, pieces[3]) == kept[4:]
    other = {**pieces[3], "under": {found.id: "other"}}
    assert all_kept(found, {}, other)[0]["under"] == {found.id: "other"}


def test_a_system_that_is_begun_is_named_without_numbers() -> None:
    assert "without a result yet: some." in render_page({"some": {"begun": {}}}, {})


def test_cases_that_are_only_played_are_those_of_a_search() -> None:
    """The first cases of each level follow from the seed alone."""
    system, profile = LOOK.declaration.system, LOOK.profile
    of_search = []
    for level in system.levels:
        menu = system.cases.menu(system.ops_up_to(level), level)
        of_search.append(next(record_seeded_cases(LOOK.declaration, menu, profile.examples, 7)).generated.case)
    played = cases_of(LOOK.declaration, profile, 7)
    assert [next(played).case for _ in system.levels] == of_search


def test_the_page_is_that_of_its_table() -> None:
    table = json.loads((ROOT / "docs" / "search-matrix.json").read_text("utf-8"))
    assert (ROOT / "docs" / "reference/search-matrix.md").read_text("utf-8") == render_page(
        table["systems"], table["earlier"]
    )
