"""Behaviour diffs: what two subjects answer differently, found by generated cases and shortened."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from itertools import combinations
from typing import Any, Final, NamedTuple

from entrycache_conformance.campaign.difference import TRIES
from entrycache_conformance.campaign.make import make_run
from entrycache_conformance.explain import explain
from entrycache_conformance.judge import Coverage, judge, trajectory
from entrycache_conformance.shrink import shortest
from entrycache_protocol.case import Case
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.errors import UsageError
from entrycache_protocol.failure import Difference
from entrycache_protocol.stopped import keeping
from entrycache_protocol.subject import Played, UnderTest
from entrycache_protocol.text import arguments, compact

JOINED: Final = " and "
"""Between the variants that explain a difference together; each that was met alone too is shown alone."""


class Behaviour(NamedTuple):
    """One difference of behaviour: what it is called, its rules, its shortest case, both answers to its last step."""

    label: str
    rules: tuple[str, ...]
    case: Case
    before: dict[str, Any]
    after: dict[str, Any]
    met: int


def behaviours(
    before: UnderTest, after: UnderTest, seed: int, cases: int, notify: Callable[[int, int], None]
) -> list[Behaviour]:
    """What `after` answers otherwise than `before`, each once, by the shortest case that was found.

    Cases are made beside the reference with the variants of `before`. A difference is called after the one variant of
    `after` that explains it, else after the operation that shows it.

    Raises:
        UsageError: they are about different systems.
        Stopped: with those of the cases that were over.
    """
    declaration = _both(before.declaration, after.declaration)
    menu = declaration.system.cases.menu(name for name in declaration.system.ops if name in declaration.ops)
    telling = tuple(declaration.system.cases.distinguishing.items())
    found: dict[str, Behaviour] = {}

    def differs(case: Case) -> Difference | None:
        return _difference(before, after, case, declaration)

    with keeping(lambda: _told(found)):
        for number in range(cases):
            theme, steps = telling[number % len(telling)]
            themed = declaration.system.cases.themes[theme]
            case = make_run(declaration, menu, themed, f"{seed}/{number}", steps, None).case
            difference = differs(case)
            if difference is not None:
                short = shortest(case, difference, differs, TRIES, forwards=True)
                one = _named(before, after, *_plain(before, after, *short, declaration))
                known = found.get(one.label)
                met = 1 if known is None else known.met + 1
                shorter = one if known is None or len(one.case.steps) < len(known.case.steps) else known
                found[one.label] = shorter._replace(met=met)
            notify(number + 1, len(found))
        return _told(found)


def _told(found: Mapping[str, Behaviour]) -> list[Behaviour]:
    """Those that are told, in order."""
    several = [label for label in found if JOINED in label and all(part in found for part in label.split(JOINED))]
    return [found[label] for label in sorted(found) if label not in several]


def _both(one: Declaration, other: Declaration) -> Declaration:
    """What both take, their limits lifted but for what could keep one of them from answering."""
    if one.system is not other.system:
        raise UsageError(f"the subjects are about different systems, {one.system.name} and {other.system.name}")
    return dataclasses.replace(
        one,
        ops=one.ops & other.ops,
        config=one.sent_keys & other.sent_keys,
        introspection=one.introspection & other.introspection,
        payload=one.payload and other.payload,
        limits=one.limits.lifted().narrowest(other.limits.lifted()),
    )


def _difference(before: UnderTest, after: UnderTest, case: Case, declaration: Declaration) -> Difference | None:
    one = before.play([case])[0]
    other = after.play([case])[0]
    if not isinstance(one, Played) or not isinstance(other, Played):
        return None
    shown = case.system.wire.declared_part
    for at, (left, right) in enumerate(zip(one.outcomes, other.outcomes, strict=True)):
        expected, got = shown(left, declaration.introspection), shown(right, declaration.introspection)
        if expected != got:
            return Difference(at, expected, got)
    return None


def _plain(
    before: UnderTest, after: UnderTest, case: Case, difference: Difference, declaration: Declaration
) -> tuple[Case, Difference]:
    """The case with as many settings at their defaults as it takes."""
    norm = declaration.base_config()
    for field in dataclasses.fields(norm):
        default = getattr(norm, field.name)
        if getattr(case.config, field.name) != default:
            plainer = dataclasses.replace(case, config=dataclasses.replace(case.config, **{field.name: default}))
            again = _difference(before, after, plainer, declaration)
            if again is not None:
                case, difference = plainer, again
    return case, difference


def _named(before: UnderTest, after: UnderTest, case: Case, difference: Difference) -> Behaviour:
    """The difference with a name: that of the variant which explains it, else of the operation."""
    steps = trajectory(case, Coverage())
    norm = judge(case, steps, after.play([case])[0], after.declaration)
    rules = () if norm is None else tuple(rule.value for rule in explain(after, case, steps, norm))
    label = f"{type(case.steps[difference.at]).name}: no variant explains it"
    variants = _variants(before.declaration, after.declaration)
    for names in (*combinations(sorted(variants), 1), *combinations(sorted(variants), 2)):
        changed = dataclasses.replace(case.config.variants, **{name: variants[name] for name in names})
        like = dataclasses.replace(case, config=dataclasses.replace(case.config, variants=changed))
        if judge(like, trajectory(like, Coverage()), after.play([like])[0], after.declaration) is None:
            shown = [f"`{n}` {getattr(case.config.variants, n).value} becomes {variants[n].value}" for n in names]
            label = JOINED.join(shown)
            break
    return Behaviour(
        label,
        rules,
        case,
        case.system.wire.write_outcome(difference.expected),
        case.system.wire.write_outcome(difference.got),
        1,
    )


def _variants(before: Declaration, after: Declaration) -> dict[str, Any]:
    """The variants of `after` that `before` does not follow."""
    one, other = before.base_config().variants, after.base_config().variants
    return {
        field.name: getattr(other, field.name)
        for field in dataclasses.fields(other)
        if getattr(one, field.name) is not getattr(other, field.name)
    }


def to_markdown(names: tuple[str, str], found: list[Behaviour], command: str) -> str:
    """The page of behaviour diffs."""
    lines = [
        "# Behaviour diffs",
        "",
        f"What `{names[1]}` answers otherwise than `{names[0]}`. Generated; no sequence was written by hand:",
        "",
        f"    {command}",
        "",
    ]
    for one in found:
        config = _shown_config(one.case)
        lines += [
            f"## {one.label}",
            "",
            f"Rules: {', '.join(one.rules) or 'none named'}. Met in {one.met} of the cases.",
            "",
        ]
        lines += [f"Configuration: {config}." if config else "Configuration: defaults.", ""]
        lines += ["```text"]
        lines += [_shown_step(step) for step in one.case.steps]
        lines += [f"{names[0]}: {compact(one.before)}", f"{names[1]}: {compact(one.after)}", "```", ""]
    if not found:
        lines += ["No difference was found.", ""]
    return "\n".join(lines)


def _shown_config(case: Case) -> str:
    norm = type(case.config)()
    changed = {
        field.name: getattr(case.config, field.name)
        for field in dataclasses.fields(norm)
        if field.name != "variants" and getattr(case.config, field.name) != getattr(norm, field.name)
    }
    return ", ".join(f"`{name}` {getattr(value, 'value', value)}" for name, value in changed.items())


def _shown_step(step: Any) -> str:
    return f"{type(step).name} {arguments(step)}".rstrip()
