"""Subjects in front of another subject.

A `NarrowedSubject` uses less of a subject than it offers: fewer operations (`without_operations`), fixed settings
(`pin_settings`), or the specification instead of a declared variant or limit (`lift_waivers`). A `ValidatedSubject`
checks every message against its JSON Schema. It is slow and meant for the author of an adapter. Both are a
`SubjectWrapper`, which passes everything else on to the subject behind it.
"""

import dataclasses
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from entrycache_protocol.case import Case, History, case_to_json, config_to_json, history_to_json
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.errors import BrokenSubject, UsageError
from entrycache_protocol.schema import case_schema, history_schema
from entrycache_protocol.subject import Answer, HistoryAnswer, HistoryResult, RunResult, SubjectWrapper, TestedSubject


class NarrowedSubject(SubjectWrapper):
    """The same subject with another declaration. The subject's own declaration still decides what is sent to it."""

    def __init__(self, subject: TestedSubject, declaration: Declaration) -> None:
        super().__init__(subject)
        self._declaration = declaration

    @property
    def declaration(self) -> Declaration:
        """The declaration that a run may use."""
        return self._declaration


def without_operations(subject: TestedSubject, ops: frozenset[str]) -> NarrowedSubject:
    """Return the subject without some of its operations."""
    declaration = subject.declaration
    return NarrowedSubject(subject, dataclasses.replace(declaration, ops=declaration.ops - ops))


def pin_settings(subject: TestedSubject, config: Mapping[str, Any], source: Path) -> NarrowedSubject:
    """Return the subject with these settings in every run. Settings that none of its operations show are left out.

    Raises:
        UsageError: the subject has one of them fixed to something else, or does not accept it.
    """
    declaration = subject.declaration
    system = declaration.system
    levels = {system.ops[name].level for name in declaration.ops}
    visible_levels = system.cases.visible_levels
    config = {key: value for key, value in config.items() if key not in visible_levels or visible_levels[key] & levels}
    has = config_to_json(system, declaration.base_config())
    for key, value in config.items():
        there = has[key]
        if declaration.varies(key) or there == value:
            continue
        why = (
            f"has {key} fixed to {there!r}" if key in declaration.fixed else f"does not accept {key} (it has {there!r})"
        )
        raise UsageError(f"{subject.name} {why}, but {source} makes it {value!r}")
    return NarrowedSubject(subject, dataclasses.replace(declaration, fixed={**declaration.fixed, **config}))


ALL_FINDINGS: Final = "all"
"""The word that stands for every finding that the subject names."""

FINDING_SEPARATOR: Final = ", "
"""The text between the findings that one limit or variant stands for."""


def lift_waivers(subject: TestedSubject, findings: Sequence[str], others: Collection[str] = ()) -> NarrowedSubject:
    """Return the subject held to the specification: the limits, variants and fixed settings of these findings are off.

    `others` are findings that may be named although no waiver stands for them.

    Raises:
        UsageError: the subject waives no such finding.
    """
    declaration = subject.declaration
    named = sorted({finding for behind in declaration.findings.values() for finding in behind.split(FINDING_SEPARATOR)})
    for finding in findings:
        if finding not in (*named, *others, ALL_FINDINGS):
            raise UsageError(f"{subject.name} waives no finding {finding!r}; it waives: {', '.join(named) or 'none'}")
    lifted: dict[str, set[str]] = {"variants": set(), "limits": set(), "fixed": set()}
    off = {
        waiver
        for waiver, behind in declaration.findings.items()
        if {*behind.split(FINDING_SEPARATOR), ALL_FINDINGS} & set(findings)
    }
    for waiver in off:
        kind, _, name = waiver.partition(".")
        lifted[kind].add(name)
    return NarrowedSubject(
        subject,
        dataclasses.replace(
            declaration,
            variants=_with_defaults(declaration.variants or declaration.system.model.variants(), lifted["variants"]),
            limits=_with_defaults(declaration.limits, lifted["limits"]),
            fixed={key: value for key, value in declaration.fixed.items() if key not in lifted["fixed"]},
            findings={waiver: behind for waiver, behind in declaration.findings.items() if waiver not in off},
        ),
    )


def _with_defaults(values: Any, names: Collection[str]) -> Any:
    defaults = type(values)()
    return dataclasses.replace(values, **{name: getattr(defaults, name) for name in names})


@cache
def _validator() -> Any:
    """Return the class of our validators."""
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - slow to import
    from jsonschema.validators import extend  # noqa: PLC0415

    one_of = Draft202012Validator.VALIDATORS["oneOf"]

    def own_one_of(validator: Any, alternatives: list[Any], value: Any, schema: Any) -> Iterator[Any]:
        """Check `oneOf` only against the alternative for the value's own operation; no other can fit."""
        op = value.get("op") if isinstance(value, dict) else None
        own = [each for each in alternatives if each.get("properties", {}).get("op") == {"const": op}]
        yield from one_of(validator, own or alternatives, value, schema)

    return extend(Draft202012Validator, {"oneOf": own_one_of})  # type: ignore[no-untyped-call]


class ValidatedSubject(SubjectWrapper):
    """A subject whose every case and outcome must fit the schemas, in addition to the strict reader."""

    def __init__(self, subject: TestedSubject) -> None:
        super().__init__(subject)
        system, validator = subject.declaration.system, _validator()
        self._case = validator(case_schema(system))
        self._history = validator(history_schema(system))
        self._outcomes = {op: validator(system.wire.outcome_schema(op)) for op in system.ops.values()}
        self.messages = 0

    def play(self, cases: Sequence[Case]) -> list[Answer]:
        """Return the answers, one per case, in order.

        Raises:
            BrokenSubject: a message does not fit its schema.
        """
        for case in cases:
            self._hold(self._case, _as_json(case_to_json(case)), "a case")
        answers = self.subject.play(cases)
        for case, answer in zip(cases, answers, strict=True):
            if isinstance(answer, RunResult):
                for op, outcome in zip(case.steps, answer.outcomes, strict=True):
                    self._hold(
                        self._outcomes[type(op)],
                        _as_json(self.declaration.system.wire.write_outcome(outcome)),
                        f"an outcome of {op.name}",
                    )
        return answers

    def _hold(self, validator: Any, value: Any, what: str) -> None:
        self.messages += 1
        from jsonschema.exceptions import best_match  # noqa: PLC0415 - slow to import

        error = best_match(validator.iter_errors(value))
        if error is not None:
            raise BrokenSubject(f"{what} does not fit its schema: {error.message} at {error.json_path}")

    def play_histories(self, histories: Sequence[History]) -> list[HistoryAnswer]:
        """Return the answers, one per history, in order.

        Raises:
            BrokenSubject: a message does not fit its schema.
        """
        for history in histories:
            self._hold(self._history, _as_json(history_to_json(history)), "a history")
        answers = self.subject.play_histories(histories)
        for history, answer in zip(histories, answers, strict=True):
            if isinstance(answer, HistoryResult):
                for op, event in zip(history.steps, answer.events, strict=True):
                    outcome = _as_json(self.declaration.system.wire.write_outcome(event.outcome))
                    self._hold(self._outcomes[type(op)], outcome, f"an outcome of {op.name}")
        return answers


def _as_json(value: Any) -> Any:
    """Return the value as a JSON reader returns it: arrays are lists."""
    if isinstance(value, dict):
        return {name: _as_json(part) for name, part in value.items()}
    if isinstance(value, tuple | list):
        return [_as_json(part) for part in value]
    return value
