"""Test the search matrix: a guard that is off by one is detected, and an unchanged reference is not."""

from __future__ import annotations

import json

import pytest

from entrycache_conformance.generate import record_seeded_cases
from entrycache_conformance.levels import Profile
from entrycache_conformance.systems import SYSTEMS
from entrycache_conformance.systems.pulsar_pip430.workload import WORKLOADS, WorkloadProfile
from entrycache_conformance.systems.reference import reference_subject
from entrycache_dev.matrix import machine_matrix, search_matrix
from entrycache_dev.matrix.generate import Change
from entrycache_dev.matrix.mutants import generate_all_changes
from entrycache_dev.matrix.search_matrix import State, ask_seeds, fingerprint, render_page
from entrycache_dev.matrix.seeded_search import SearchSettings, cases_of, find_missed_seeds, select_guards
from tests.support import ROOT

PULSAR = SYSTEMS["pulsar-pip430"]
SETTINGS = SearchSettings(reference_subject(PULSAR).declaration, Profile(60, 0, 0), frozenset(), quick=10)
SEEDS = 3


def change(function: str, old: str, new: str) -> Change:
    changes = (one for one in select_guards(generate_all_changes(), PULSAR) if one.function == function)
    return next(one for one in changes if (one.old, one.new) == (old, new))


def keep_states(change: Change, of_silent: dict[str, str], known: State | None = None) -> list[State]:
    """Return every kept state, from the first seeds to the last."""
    return [state for state in all_kept(change, of_silent, known) if "begun" not in state]


def all_kept(change: Change, of_silent: dict[str, str], known: State | None = None) -> list[State]:
    kept: list[State] = []
    ask_seeds([change], SETTINGS, SEEDS, of_silent, known or {}, kept.append)
    return kept


@pytest.mark.long
def test_a_guard_that_is_off_by_one_is_detected_at_every_seed() -> None:
    strict = change("bytes_over", "<=", "<")
    assert find_missed_seeds([strict], SETTINGS, range(SEEDS)) == {strict.id: ()}
    assert keep_states(strict, {})[-1]["unseen"] == {}


def same_as_it_was() -> Change:
    strict = change("bytes_over", "<=", "<")
    return strict._replace(
        id="same",
        whole=strict.whole.replace("<  trigger_bytes", "<= trigger_bytes").replace(
            "size_bytes < trigger_bytes(state)", "size_bytes <= trigger_bytes(state)"
        ),
    )


@pytest.mark.long
def test_a_change_without_another_outcome_is_reported_as_such_and_not_searched_again() -> None:
    assert keep_states(same_as_it_was(), {})[-1]["silent"] == {"same": "not explained"}
    assert keep_states(same_as_it_was(), {"same": "it is the same"})[-1]["silent"] == {"same": "argued"}


@pytest.mark.long
def test_a_change_that_only_a_trace_shows_is_reported_as_such() -> None:
    silent_change = change("rows_of_pass", "not event.halted", "(event.halted)")
    assert keep_states(silent_change, {})[-1]["silent"] == {silent_change.id: "only rows of a trace"}


@pytest.mark.long
def test_a_change_that_only_a_variant_shows_is_searched_with_it_at_every_seed() -> None:
    variant_change = change("is_late", ">", ">=")
    state = keep_states(variant_change, {})[-1]
    assert state["under"] == {variant_change.id: "size_pass_rounds=one"}
    assert (state["seeds"], state["silent"]) == (SEEDS, {})


@pytest.mark.long
def test_a_stopped_run_continues_and_starts_anew_for_other_cases() -> None:
    strict = change("bytes_over", "<=", "<")
    first, last = keep_states(strict, {})
    assert (first["seeds"], last["seeds"]) == (2, SEEDS)
    half = {**first, "unseen": {strict.id: [1]}}
    assert [one["unseen"] for one in keep_states(strict, {}, half)] == [{strict.id: [1]}] * 2
    assert keep_states(strict, {}, {**half, "of": "other cases"})[-1]["unseen"] == {}


def test_the_fingerprint_covers_workload_profiles(monkeypatch: pytest.MonkeyPatch) -> None:
    strict = change("bytes_over", "<=", "<")
    before = fingerprint([strict], SETTINGS)
    monkeypatch.setitem(WORKLOADS, WorkloadProfile.BOUNDARY, WORKLOADS[WorkloadProfile.DEFAULT])
    assert fingerprint([strict], SETTINGS) != before


@pytest.mark.long
def test_a_started_search_continues_after_its_last_piece() -> None:
    variant_change = change("is_late", ">", ">=")
    kept = all_kept(variant_change, {})
    pieces = [state for state in kept if "begun" in state]
    pieces_done = pieces[-1]["begun"]["looks"]
    assert [state["begun"]["looks"] for state in pieces] == [pieces_done[:many] for many in range(len(pieces_done) + 1)]
    assert all_kept(variant_change, {}, pieces[3]) == kept[4:]
    other = {**pieces[3], "under": {variant_change.id: "other"}}
    assert all_kept(variant_change, {}, other)[0]["under"] == {variant_change.id: "other"}


def test_a_started_system_is_named_without_numbers() -> None:
    assert "without a result yet: some." in render_page({"some": {"begun": {}}}, {})


def test_played_cases_are_those_of_a_search() -> None:
    """The first cases of each level follow from the seed alone."""
    system, profile = SETTINGS.declaration.system, SETTINGS.profile
    of_search = []
    for level in system.levels:
        menu = system.cases.menu(SETTINGS.declaration.ops_up_to(level), level)
        of_search.append(next(record_seeded_cases(SETTINGS.declaration, menu, profile.examples, 7)).generated.case)
    played = cases_of(SETTINGS.declaration, profile, 7)
    assert [next(played).case for _ in system.levels] == of_search


def test_the_page_is_that_of_its_table() -> None:
    table = json.loads((ROOT / "conformance/entrycache_dev/matrix/search-matrix.json").read_text("utf-8"))
    page = search_matrix.render_committed()
    assert [f"\n| {name} | {state['changes']} | " in page for name, state in table["systems"].items()] == [True] * 4


@pytest.mark.long
def test_the_machines_see_a_guard_that_is_off_by_one_and_nothing_in_an_unchanged_reference() -> None:
    strict, same = change("bytes_over", "<=", "<"), same_as_it_was()
    cases = machine_matrix.record_examples(PULSAR, "manager", 25, 0)
    assert len(cases) >= 25
    assert machine_matrix.find_unseen([strict, same], SETTINGS, cases) == [same]


def test_the_committed_strength_of_the_machines_meets_its_goal() -> None:
    strengths, examples, seed = machine_matrix.read_committed()
    sample, searched, detected = (
        sum(getattr(one, name) for one in strengths) for name in ("sample", "searched", "detected")
    )
    assert examples >= 1_000
    assert sample >= 200
    assert detected >= machine_matrix.GOAL * searched
    assert machine_matrix.to_json(strengths, examples, seed) == machine_matrix.TABLE.read_text("utf-8")
    assert f"| all | {sum(one.changes for one in strengths)} | {sample} | {searched} | {detected} | " in (
        machine_matrix.render_committed()
    )
