"""Behaviour diffs: find by generated cases where two subjects answer differently, and shorten the cases.

Cases are made with the variants of the first subject. `find_behaviour_differences` shortens each differing case and
names the difference after the variant of the second subject that explains it. `to_markdown` writes the page.
"""

import dataclasses
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any, Final, NamedTuple

from entrycache_conformance import explain, generate, levels
from entrycache_conformance.campaign.run import DIFFERENCE_TRIES, make_run
from entrycache_conformance.judge import Coverage, adopt_uncompared, judge, run_reference
from entrycache_conformance.report import find_exemptions
from entrycache_protocol import codec, errors
from entrycache_protocol.case import Case
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.subject import Answer, Difference, FailedRun, FailureKind, RunResult, SkippedRun, TestedSubject

VARIANT_SEPARATOR: Final = " and "
"""The text between the variants that explain a difference together."""


class BehaviourDifference(NamedTuple):
    """One difference of behaviour: its name, its rules, its shortest case, and both answers to the last step."""

    label: str
    rules: tuple[str, ...]
    case: Case
    before: dict[str, Any]
    after: dict[str, Any]
    case_count: int


def find_behaviour_differences(
    before: TestedSubject,
    after: TestedSubject,
    seed: int,
    cases: int,
    notify: Callable[[int, int], None],
    uncompared: Counter[str] | None = None,
) -> list[BehaviourDifference]:
    """Find where `after` answers differently from `before`, each difference once, with the shortest case found.

    Cases are made next to the reference with the variants of `before`. A difference is named after the one variant of
    `after` that explains it, else after the operation that shows it. `uncompared` counts the cases that were not
    compared, by reason.

    Raises:
        UsageError: they are about different systems, have no operation in common, no case was compared, or they answer
            alike and share the central operations of no level.
        Interrupted: with those of the cases that were over.
    """
    uncompared = Counter() if uncompared is None else uncompared
    declaration = _common_declaration(before.declaration, after.declaration)
    if not declaration.ops:
        raise errors.UsageError("the subjects have no operation in common; expected some that both offer")
    menu = declaration.system.cases.menu(name for name in declaration.system.ops if name in declaration.ops)
    profiles = tuple(declaration.system.cases.distinguishing.items())
    differences: dict[str, BehaviourDifference] = {}

    def differs(case: Case) -> Difference | None:
        return _difference(before, after, case, declaration)

    with errors.keep_partial_result(lambda: _reported(differences)):
        for number in range(cases):
            workload_name, steps = profiles[number % len(profiles)]
            workload = declaration.system.cases.workloads[workload_name]
            case = make_run(declaration, menu, workload, f"{seed}/{number}", steps, None).case
            answers = before.play([case])[0], after.play([case])[0]
            reason = _reason_to_skip(*answers)
            uncompared.update([reason] if reason else [])
            difference = None if reason else _compare(case, *answers, declaration)
            if difference is not None:
                tries = 0 if _is_hang(difference) else DIFFERENCE_TRIES
                short = generate.shrink_case(case, difference, differs, tries, forwards=True)
                one = _name_difference(before, after, *_with_default_settings(before, after, *short, declaration))
                known = differences.get(one.label)
                case_count = 1 if known is None else known.case_count + 1
                shorter = one if known is None or len(one.case.steps) < len(known.case.steps) else known
                differences[one.label] = shorter._replace(case_count=case_count)
            notify(number + 1, len(differences))
        if uncompared.total() == cases:
            raise errors.UsageError(f"nothing was compared: {describe_uncompared(uncompared, cases)}")
        missing = "" if differences else levels.find_uncompared(declaration)
        if missing:
            raise errors.UsageError(f"nothing was compared: {missing}")
        return _reported(differences)


def _reported(differences: Mapping[str, BehaviourDifference]) -> list[BehaviourDifference]:
    """Return the differences in order. A pair of variants is left out if each was found alone too."""
    several = [
        label
        for label in differences
        if VARIANT_SEPARATOR in label and all(part in differences for part in label.split(VARIANT_SEPARATOR))
    ]
    return [differences[label] for label in sorted(differences) if label not in several]


def _common_declaration(one: Declaration, other: Declaration) -> Declaration:
    """Return what both subjects take, without the limits that do not keep one of them from answering."""
    if one.system is not other.system:
        raise errors.UsageError(f"the subjects are about different systems, {one.system.name} and {other.system.name}")
    return dataclasses.replace(
        one,
        ops=one.ops & other.ops,
        config=one.sent_keys & other.sent_keys,
        introspection=one.introspection & other.introspection,
        payload=one.payload and other.payload,
        limits=one.limits.lifted().narrowest(other.limits.lifted()),
        uncompared={
            name: one.uncompared.get(name, frozenset()) | other.uncompared.get(name, frozenset())
            for name in one.uncompared.keys() | other.uncompared.keys()
        },
    )


def describe_left_out(names: tuple[str, str], one: Declaration, other: Declaration) -> list[str]:
    """Return what a comparison of two subjects leaves out, a line each: it shows no difference there."""
    common = _common_declaration(one, other)
    lines = []
    for name, ops, parts in (
        (names[0], one.ops - other.ops, one.introspection - other.introspection),
        (names[1], other.ops - one.ops, other.introspection - one.introspection),
    ):
        lines += [f"operations of `{name}` alone: {', '.join(sorted(ops))}"] if ops else []
        lines += [f"parts of the state of `{name}` alone: {', '.join(sorted(parts))}"] if parts else []
    return lines + [f"{each.kind} {each.what}" for each in find_exemptions(common, {}) if each.kind != "variant"]


def describe_uncompared(uncompared: Counter[str], cases: int) -> str:
    """Return how many of the cases were not compared, with the commonest reason."""
    reason = uncompared.most_common(1)[0][0]
    return f"{uncompared.total()} of {cases} cases were not compared ({errors.escape_unprintable(reason)})"


def _reason_to_skip(one: Answer, other: Answer) -> str:
    """Return why two answers cannot be compared; empty if they can."""
    for answer in (one, other):
        if isinstance(answer, SkippedRun):
            return f"skipped: {answer.reason}"
    both_failed = isinstance(one, FailedRun) and isinstance(other, FailedRun)
    return "neither subject answered" if both_failed else ""


def _difference(before: TestedSubject, after: TestedSubject, case: Case, declaration: Declaration) -> Difference | None:
    """Play a case on both subjects, and return the first difference of their answers."""
    one, other = before.play([case])[0], after.play([case])[0]
    return None if _reason_to_skip(one, other) else _compare(case, one, other, declaration)


def _compare(case: Case, one: Answer, other: Answer, declaration: Declaration) -> Difference | None:
    """Return the first difference of two answers. If one run failed, that is the difference."""
    if not (isinstance(one, RunResult) and isinstance(other, RunResult)):
        failed = one if isinstance(one, FailedRun) else other
        assert isinstance(failed, FailedRun)
        at = max(0, len(case.steps) - 1) if failed.step is None else failed.step
        expected, got = (each.outcomes[at] if isinstance(each, RunResult) else None for each in (one, other))
        return Difference(at, expected, got, failed)
    declared_part = case.system.wire.declared_part
    for at, (left, right) in enumerate(zip(one.outcomes, other.outcomes, strict=True)):
        expected, got = declared_part(left, declaration.introspection), declared_part(right, declaration.introspection)
        got = adopt_uncompared(case.steps[at], expected, got, declaration)
        if expected != got:
            return Difference(at, expected, got)
    return None


def _is_hang(difference: Difference) -> bool:
    """Return whether a run did not end in time; each try to shorten its case would take as long."""
    return difference.failed is not None and difference.failed.trouble is FailureKind.HANG


def _with_default_settings(
    before: TestedSubject, after: TestedSubject, case: Case, difference: Difference, declaration: Declaration
) -> tuple[Case, Difference]:
    """Return the case with as many settings at their defaults as possible."""
    defaults = declaration.base_config()
    for field in dataclasses.fields(defaults):
        default = getattr(defaults, field.name)
        if getattr(case.config, field.name) != default:
            plainer = dataclasses.replace(case, config=dataclasses.replace(case.config, **{field.name: default}))
            again = _difference(before, after, plainer, declaration)
            if again is not None:
                case, difference = plainer, again
    return case, difference


def _name_difference(
    before: TestedSubject, after: TestedSubject, case: Case, difference: Difference
) -> BehaviourDifference:
    """Name the difference after the variant that explains it, else after the operation."""
    steps = run_reference(case, Coverage())
    difference_from_reference = judge(case, steps, after.play([case])[0], after.declaration)
    rules = (
        ()
        if difference_from_reference is None
        else tuple(rule.value for rule in explain.explain_difference(after, case, steps, difference_from_reference))
    )
    label = f"{type(case.steps[difference.at]).name}: no variant explains it"
    variants = _changed_variants(before.declaration, after.declaration)
    for names in (*combinations(sorted(variants), 1), *combinations(sorted(variants), 2)):
        changed = dataclasses.replace(case.config.variants, **{name: variants[name] for name in names})
        like = dataclasses.replace(case, config=dataclasses.replace(case.config, variants=changed))
        if judge(like, run_reference(like, Coverage()), after.play([like])[0], after.declaration) is None:
            changes = [f"`{n}` {getattr(case.config.variants, n).value} becomes {variants[n].value}" for n in names]
            label = VARIANT_SEPARATOR.join(changes)
            break
    return BehaviourDifference(
        label,
        rules,
        case,
        _answer_json(case, difference.expected, difference.failed),
        _answer_json(case, difference.got, difference.failed),
        1,
    )


def _answer_json(case: Case, outcome: Any, failed: FailedRun | None) -> dict[str, Any]:
    """Return an outcome as JSON, or how the run failed if it has none."""
    if outcome is None and failed is not None:
        return {"failed": failed.trouble.value, "message": failed.message}
    return dict(case.system.wire.write_outcome(outcome))


def _changed_variants(before: Declaration, after: Declaration) -> dict[str, Any]:
    """Return the variants of `after` that `before` does not follow."""
    one, other = before.base_config().variants, after.base_config().variants
    return {
        field.name: getattr(other, field.name)
        for field in dataclasses.fields(other)
        if getattr(one, field.name) is not getattr(other, field.name)
    }


def to_markdown(
    names: tuple[str, str], differences: list[BehaviourDifference], command: str, left_out: Sequence[str] = ()
) -> str:
    """Return the page of behaviour diffs; `left_out` says what was not compared."""
    lines = [
        "# Behaviour diffs",
        "",
        f"Where `{names[1]}` answers differently from `{names[0]}`. Generated; no sequence was written by hand:",
        "",
        f"    {command}",
        "",
    ]
    for one in differences:
        config = _config_text(one.case)
        lines += [
            f"## {one.label}",
            "",
            f"Rules: {', '.join(one.rules) or 'none named'}. Met in {one.case_count} of the cases.",
            "",
        ]
        lines += [f"Configuration: {config}." if config else "Configuration: defaults.", ""]
        lines += ["```text"]
        lines += [_step_text(step) for step in one.case.steps]
        lines += [
            f"{names[0]}: {codec.format_json(one.before)}",
            f"{names[1]}: {codec.format_json(one.after)}",
            "```",
            "",
        ]
    if not differences:
        lines += [f"No difference was found{' in what was compared' if left_out else ''}.", ""]
    if left_out:
        lines += ["Not compared:", "", *(f"- {line}" for line in left_out), ""]
    return "\n".join(lines)


def _config_text(case: Case) -> str:
    defaults = type(case.config)()
    changed = {
        field.name: getattr(case.config, field.name)
        for field in dataclasses.fields(defaults)
        if field.name != "variants" and getattr(case.config, field.name) != getattr(defaults, field.name)
    }
    return ", ".join(f"`{name}` {getattr(value, 'value', value)}" for name, value in changed.items())


def _step_text(step: Any) -> str:
    return f"{type(step).name} {codec.format_arguments(step)}".rstrip()
