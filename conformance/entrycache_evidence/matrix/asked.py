"""What has been asked of the seeded runs about the changed guards of one system: begun, and gone on with later."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, islice
from typing import Any, Final

from entrycache_evidence.matrix.change import Change
from entrycache_evidence.matrix.teeth import Look, Told, cases_of, first_cases, missed, shown, theme_cases, told_by_rows
from entrycache_protocol.case import to_json
from entrycache_protocol.declaration import Declaration

PATIENCE: Final = 2
"""A change that none of so many whole seeds shows is not asked about at the others, as the norm asks."""

BLOCK: Final = 12
"""Seeds that are asked together; what was asked is written after each block."""

FEW: Final = 25
"""The quick cases of a seed under a variant, where few changes are asked about."""

ARGUED: Final = "argued"
UNEXPLAINED: Final = "not explained"
ROWS: Final = "only rows of a trace"

State = dict[str, Any]
"""What is known so far, as JSON: `of` says which changes and cases it is about, `seeds` how many were asked.

`unseen`: by the id of a change, the seeds that do not show it; `silent`: why no outcome shows it at all; `under`: the
variant under which it is asked about. `begun` is there as long as the first seeds are asked about: `never` are changes
that none of them shows, `looks` the variants under which those were asked, and `rows` what rows alone have shown.
"""

Keep = Callable[[State], None]

NORM: Final = ""
"""The name of a variant that is none."""


def asked(
    changes: Sequence[Change], look: Look, seeds: int, of_silent: Mapping[str, str], known: State, keep: Keep,
    told: Told = lambda _: None,
) -> State:  # fmt: skip
    """What the runs of so many seeds, from 0 on, see of the changes; `known` is gone on with where it is about them."""
    about = fingerprint(changes, look)
    state = known if known.get("of") == about else nothing(changes, look) | {"of": about}
    if "begun" in state:
        state = begin(changes, look, of_silent, state, keep, told)
    since = {name: ARGUED for name, why in state["silent"].items() if why == UNEXPLAINED and name in of_silent}
    state = {**state, "silent": {**state["silent"], **since}}
    keep(state)
    while state["seeds"] < seeds:
        block = range(state["seeds"], min(seeds, state["seeds"] + BLOCK))
        unseen = _at(changes, look, block, state, told)
        state = {**state, "seeds": block.stop, "unseen": _joined(state["unseen"], unseen)}
        keep(state)
    return state


def nothing(changes: Sequence[Change], look: Look) -> State:
    """What is known before anything was asked."""
    empty: State = {"silent": {}, "under": {}, "unseen": {}, "begun": {}}
    return {"examples": look.profile.examples, "changes": len(changes), "seeds": 0, **empty}


def fingerprint(changes: Sequence[Change], look: Look) -> str:
    """Which changes are asked which cases: where one of them is another one, what was asked says nothing of it."""
    first = [
        made
        for cases in (cases_of, theme_cases)
        for made in islice(cases(look.declaration, look.profile, 0), look.quick)
    ]
    themes = [[str(theme), one_to] for theme, one_to in look.declaration.system.cases.extra_themes.items()]
    ids = sorted(change.id for change in changes)
    text = [look.profile.examples, themes, ids, [to_json(made.case) for made in first]]
    return hashlib.sha256(json.dumps(text).encode()).hexdigest()[:16]


def begin(
    changes: Sequence[Change], look: Look, of_silent: Mapping[str, str], state: State, keep: Keep, told: Told
) -> State:  # fmt: skip
    """The first seeds, and of what none of them shows, why; what is known is kept after each piece."""
    first = range(PATIENCE)
    if not state["begun"]:
        unseen = missed(changes, look, first, told)
        never = [name for name, seeds in unseen.items() if seeds == tuple(first)]
        seldom = {name: list(seeds) for name, seeds in unseen.items() if seeds and name not in never}
        state = {**state, "unseen": seldom, "begun": {"never": never, "looks": [], "rows": []}}
        keep(state)
    for number in (0, 1, 2):
        for name, declaration in variants_of(look.declaration, (number,)).items():
            if name not in state["begun"]["looks"]:
                state = _looked(changes, look._replace(declaration=declaration), name, state, of_silent)
                keep(state)
    rows, never = state["begun"]["rows"], state["begun"]["never"]
    silent = {name: _reason(name in rows, name in of_silent) for name in never if name not in state["under"]}
    known = {key: value for key, value in state.items() if key != "begun"} | {"seeds": PATIENCE, "silent": silent}
    under = {name: seeds for name, seeds in _at(changes, look, first, known, told).items() if name in known["under"]}
    return {**known, "unseen": _joined(known["unseen"], under)}


def _looked(
    changes: Sequence[Change], look: Look, name: str, state: State, of_silent: Mapping[str, str]
) -> State:  # fmt: skip
    """What is known after a look under one variant, or under none, for the rows."""
    begun = state["begun"]
    left = [one for one in changes if one.id in begun["never"] and one.id not in state["under"]]
    if ", " in name:  # of pairs of readings those only are asked that nothing else explains
        left = [one for one in left if one.id not in begun["rows"] and one.id not in of_silent]
    cases = first_cases(look) if left else []
    seen = shown(left, look, cases) if name != NORM else []  # whole seeds of the norm have not shown them
    rest = [one for one in left if one not in seen and one.id not in begun["rows"]]
    rows = {one.id for one in told_by_rows(rest, look, cases)}
    return {
        **state,
        "under": {**state["under"], **{one.id: name for one in seen}},
        "begun": {**begun, "looks": [*begun["looks"], name], "rows": sorted({*begun["rows"], *rows})},
    }


def _reason(by_rows: bool, has_argument: bool) -> str:
    if by_rows:
        return ROWS
    return ARGUED if has_argument else UNEXPLAINED


def _at(
    changes: Sequence[Change], look: Look, seeds: range, state: State, told: Told
) -> dict[str, tuple[int, ...]]:  # fmt: skip
    """The seeds out of these that do not show a change, each asked under its variant."""
    found: dict[str, tuple[int, ...]] = {}
    for name, declaration in variants_of(look.declaration, (0, 1, 2)).items():
        some = [one for one in changes if one.id not in state["silent"] and state["under"].get(one.id, NORM) == name]
        if some:
            quick = look.quick if name == NORM else min(FEW, look.quick)
            found |= missed(some, look._replace(declaration=declaration, quick=quick), seeds, told)
    return found


def _joined(before: Mapping[str, Sequence[int]], more: Mapping[str, Sequence[int]]) -> dict[str, list[int]]:
    names = [*before, *(name for name in more if name not in before)]
    both = {name: [*before.get(name, ()), *more.get(name, ())] for name in names}
    return {name: seeds for name, seeds in both.items() if seeds}


def variants_of(declaration: Declaration, at_once: Sequence[int]) -> dict[str, Declaration]:
    """The declaration under so many readings `at_once` that are not the norm's, by their names."""
    norm = declaration.system.model.variants()
    readings = [
        (field.name, other)
        for field in dataclasses.fields(norm)
        for other in type(getattr(norm, field.name))
        if other is not getattr(norm, field.name)
    ]
    return {
        ", ".join(f"{name}={other.value}" for name, other in some): dataclasses.replace(
            declaration, variants=dataclasses.replace(norm, **dict(some))
        )
        for number in at_once
        for some in combinations(readings, number)
        if len(dict(some)) == number
    }
