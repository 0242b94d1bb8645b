"""Checking every message against its JSON Schema: slow, for the author of an adapter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from entrycache_protocol.case import Case, to_json
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.errors import BrokenSubject
from entrycache_protocol.history import History
from entrycache_protocol.history import to_json as history_to_json
from entrycache_protocol.schema import case_schema, history_schema
from entrycache_protocol.subject import Answer, Happened, HistoryAnswer, Played, UnderTest


@cache
def _validator() -> Any:
    """The class of our validators."""
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - slow to import
    from jsonschema.validators import extend  # noqa: PLC0415

    one_of = Draft202012Validator.VALIDATORS["oneOf"]

    def own_one_of(validator: Any, alternatives: list[Any], value: Any, schema: Any) -> Iterator[Any]:
        """`oneOf`, tried only where the alternative is for the value's own op: no other fits it."""
        op = value.get("op") if isinstance(value, dict) else None
        own = [each for each in alternatives if each.get("properties", {}).get("op") == {"const": op}]
        yield from one_of(validator, own or alternatives, value, schema)

    return extend(Draft202012Validator, {"oneOf": own_one_of})  # type: ignore[no-untyped-call]


class Validated:
    """A subject whose every case and outcome is held to the schemas, beside the suite's own strict reader."""

    def __init__(self, subject: UnderTest) -> None:
        self.subject = subject
        system, validator = subject.declaration.system, _validator()
        self._case = validator(case_schema(system))
        self._history = validator(history_schema(system))
        self._outcomes = {op: validator(system.wire.outcome_schema(op)) for op in system.ops.values()}
        self.messages = 0

    @property
    def name(self) -> str:
        """How reports call it."""
        return self.subject.name

    @property
    def declaration(self) -> Declaration:
        """What the subject offers."""
        return self.subject.declaration

    def play(self, cases: Sequence[Case]) -> list[Answer]:
        """The answers, one a case, in order.

        Raises:
            BrokenSubject: a message does not fit its schema.
        """
        for case in cases:
            self._hold(self._case, _plain(to_json(case)), "a case")
        answers = self.subject.play(cases)
        for case, answer in zip(cases, answers, strict=True):
            if isinstance(answer, Played):
                for op, outcome in zip(case.steps, answer.outcomes, strict=True):
                    self._hold(
                        self._outcomes[type(op)],
                        _plain(self.declaration.system.wire.write_outcome(outcome)),
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
        """The answers, one a history, in order.

        Raises:
            BrokenSubject: a message does not fit its schema.
        """
        for history in histories:
            self._hold(self._history, _plain(history_to_json(history)), "a history")
        answers = self.subject.play_histories(histories)
        for history, answer in zip(histories, answers, strict=True):
            if isinstance(answer, Happened):
                for op, event in zip(history.steps, answer.events, strict=True):
                    shown = _plain(self.declaration.system.wire.write_outcome(event.outcome))
                    self._hold(self._outcomes[type(op)], shown, f"an outcome of {op.name}")
        return answers

    def close(self) -> None:
        """Let go of the subject."""
        self.subject.close()


def _plain(value: Any) -> Any:
    """The value as JSON would bring it: arrays are lists."""
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(part) for part in value]
    return value
