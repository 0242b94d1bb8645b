"""What has been asked of the seeded runs about the changed guards of one system: begun, and gone on with later."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, islice
from typing import Any, Final

from entrycache_evidence.matrix.change import Change
from entrycache_evidence.matrix.teeth import Look, Silent, Told, cases_of, missed, why_silent
from entrycache_protocol.case import to_json
from entrycache_protocol.declaration import Declaration

PATIENCE: Final = 2
"""A change that none of so many whole seeds shows is not asked about at the others, as the norm asks."""

BLOCK: Final = 6
"""Seeds that are asked together; what was asked is written after each."""

ARGUED: Final = "argued"
UNEXPLAINED: Final = "not explained"
ROWS: Final = "only rows of a trace"

State = dict[str, Any]
"""What is known so far, as JSON: `of` says which changes and cases it is about, `seeds` how many were asked.

`unseen`: by the id of a change, the seeds that do not show it; `silent`: why no outcome shows it at all; `under`: the
variant under which it is asked about.
"""

Keep = Callable[[State], None]


def asked(
    changes: Sequence[Change], look: Look, seeds: int, of_silent: Mapping[str, str], known: State, keep: Keep,
    told: Told = lambda _: None,
) -> State:  # fmt: skip
    """What the runs of so many seeds, from 0 on, see of the changes; `known` is gone on with where it is about them."""
    about = fingerprint(changes, look)
    state = known if known.get("of") == about else begun(changes, look, of_silent, told) | {"of": about}
    since = {name: ARGUED for name, why in state["silent"].items() if why == UNEXPLAINED and name in of_silent}
    state = {**state, "silent": {**state["silent"], **since}}
    keep(state)
    while state["seeds"] < seeds:
        block = range(state["seeds"], min(seeds, state["seeds"] + BLOCK))
        unseen = _at(changes, look, block, state, told)
        state = {**state, "seeds": block.stop, "unseen": _joined(state["unseen"], unseen)}
        keep(state)
    return state


def fingerprint(changes: Sequence[Change], look: Look) -> str:
    """Which changes are asked which cases: where one of them is another one, what was asked says nothing of it."""
    first = islice(cases_of(look.declaration, look.profile, 0), look.quick)
    themes = [[str(theme), one_to] for theme, one_to in look.declaration.system.cases.beside.items()]
    ids = sorted(change.id for change in changes)
    text = [look.profile.examples, themes, ids, [to_json(made.case) for made in first]]
    return hashlib.sha256(json.dumps(text).encode()).hexdigest()[:16]


def begun(changes: Sequence[Change], look: Look, of_silent: Mapping[str, str], told: Told) -> State:
    """The first seeds, and of what none of them shows, why."""
    first = range(PATIENCE)
    unseen = missed(changes, look, first, told)
    never = [change for change in changes if unseen[change.id] == tuple(first)]
    why = _why(never, look, of_silent)
    silent = {name: _reason(of, name in of_silent) for name, of in why.items() if not of.variant}
    state: State = {
        "examples": look.profile.examples,
        "changes": len(changes),
        "seeds": PATIENCE,
        "silent": silent,
        "under": {name: of.variant for name, of in why.items() if of.variant},
        "unseen": {name: list(seeds) for name, seeds in unseen.items() if seeds and name not in why},
    }
    under = {name: seeds for name, seeds in _at(changes, look, first, state, told).items() if name in state["under"]}
    return {**state, "unseen": _joined(state["unseen"], under)}


def _why(never: Sequence[Change], look: Look, of_silent: Mapping[str, str]) -> dict[str, Silent]:
    """Why: a reading, or rows alone; for what neither explains, nor an argument, two readings at once."""
    why: dict[str, Silent] = {}
    for number in (1, 2):
        left = [one for one in never if one.id not in why or (why[one.id] == Silent() and one.id not in of_silent)]
        more = why_silent(left, look, variants_of(look.declaration, (number,))) if left else []
        why |= {change.id: of for change, of in zip(left, more, strict=True)}
    return why


def _reason(of: Silent, has_argument: bool) -> str:
    if of.rows:
        return ROWS
    return ARGUED if has_argument else UNEXPLAINED


def _at(
    changes: Sequence[Change], look: Look, seeds: range, state: State, told: Told
) -> dict[str, tuple[int, ...]]:  # fmt: skip
    """The seeds out of these that do not show a change, each asked under its variant."""
    found: dict[str, tuple[int, ...]] = {}
    variants = {"": look.declaration} | variants_of(look.declaration)
    for name, declaration in variants.items():
        some = [one for one in changes if one.id not in state["silent"] and state["under"].get(one.id, "") == name]
        if some:
            found |= missed(some, look._replace(declaration=declaration), seeds, told)
    return found


def _joined(before: Mapping[str, Sequence[int]], more: Mapping[str, Sequence[int]]) -> dict[str, list[int]]:
    names = [*before, *(name for name in more if name not in before)]
    both = {name: [*before.get(name, ()), *more.get(name, ())] for name in names}
    return {name: seeds for name, seeds in both.items() if seeds}


def variants_of(declaration: Declaration, at_once: Sequence[int] = (1, 2)) -> dict[str, Declaration]:
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
