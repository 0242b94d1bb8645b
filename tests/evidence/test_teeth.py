"""The matrix of searches sees what a run sees: a guard that is off by one, and nothing where nothing changes."""

from __future__ import annotations

import json

from entrycache_conformance.profiles import Profile
from entrycache_conformance.subjects.reference import reference
from entrycache_conformance.systems import SYSTEMS
from entrycache_evidence.matrix.change import Change
from entrycache_evidence.matrix.places import all_changes
from entrycache_evidence.matrix.searches import looked_at, page
from entrycache_evidence.matrix.teeth import Look, guards, missed
from tests.support import ROOT

PULSAR = SYSTEMS["pulsar-pip430"]
LOOK = Look(reference(PULSAR).declaration, Profile(60, 0, 0), range(3), frozenset(), quick=10)


def change(function: str, old: str, new: str) -> Change:
    found = (one for one in guards(all_changes(), PULSAR) if one.function == function)
    return next(one for one in found if (one.old, one.new) == (old, new))


def test_a_guard_that_is_off_by_one_is_seen_at_every_seed() -> None:
    strict = change("bytes_over", "<=", "<")
    assert missed([strict], LOOK) == {strict.id: ()}


def test_what_changes_no_outcome_is_missed_and_then_given_up() -> None:
    same = change("bytes_over", "<=", "<")
    same = same._replace(
        id="same",
        whole=same.whole.replace("<  trigger_bytes", "<= trigger_bytes").replace(
            "size_bytes < trigger_bytes(state)", "size_bytes <= trigger_bytes(state)"
        ),
    )
    told = looked_at([same], LOOK, {})
    assert told["no_outcome_shows_it"] == {"not explained": 1}
    assert [one["missed_at"] for one in told["weak"]] == [[0, 1]]
    assert looked_at([same], LOOK, {"same": "it is the same"})["weak"] == []


def test_what_only_a_trace_tells_is_told_so() -> None:
    told = looked_at([change("rows_of", "not event.halted", "(event.halted)")], LOOK, {})
    assert (told["no_outcome_shows_it"], told["weak"]) == ({"only rows of a trace": 1}, [])


def test_the_page_is_that_of_its_table() -> None:
    systems = json.loads((ROOT / "docs" / "search-matrix.json").read_text("utf-8"))["systems"]
    assert (ROOT / "docs" / "search-matrix.md").read_text("utf-8") == page(systems)
