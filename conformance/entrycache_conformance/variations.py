"""Vary a failing case, to see which seeded faults answer as the subject does in similar cases too."""

import dataclasses
import json
from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final

from entrycache_protocol import errors
from entrycache_protocol.case import Case, case_from_json, case_to_json
from entrycache_protocol.subject import TestedSubject, require_supported

MAX_VARIATIONS: Final = 40
"""The number of variations of the steps of a failing case that are played."""


def is_playable(subject: TestedSubject, case: Case) -> bool:
    """Return whether a case is valid and the subject can play it."""
    max_steps = subject.declaration.limits.max_steps
    try:
        case_from_json(json.loads(json.dumps(case_to_json(case))), {case.system.name: case.system})
        require_supported(case, subject)
    except errors.UsageError:
        return False
    return max_steps is None or len(case.steps) <= max_steps


def vary_case(case: Case, queries: Sequence[Any], sent_keys: Collection[str]) -> Iterator[Case]:
    """Yield the case with a step left out or played twice, or with another number in a step or in its configuration.

    The state queries follow each step of the case and of what is yielded. A step that is played twice names the next
    position the second time, if it names one. Only settings that are among `sent_keys` change.
    """
    steps = case.steps[:: 1 + len(queries)]
    varied = [(*steps[:at], *steps[at + 1 :]) for at in range(len(steps) - 1)]
    for at, op in enumerate(steps):
        varied += [(*steps[: at + 1], _with_next_position(op), *steps[at + 1 :])]
        varied += [(*steps[:at], other, *steps[at + 1 :]) for other in _with_other_numbers(op)]
    for config in _with_other_numbers(case.config, sent_keys):
        yield dataclasses.replace(case, config=config)
    for some in varied[:: 1 + len(varied) // MAX_VARIATIONS]:
        yield with_queries(case, some, queries)


def with_queries(case: Case, steps: Sequence[Any], queries: Sequence[Any]) -> Case:
    """Return the case with these steps, each followed by the state queries."""
    return dataclasses.replace(case, steps=tuple(part for op in steps for part in (op, *queries)), outcomes=(), got=())


def _with_other_numbers(value: Any, names: Collection[str] = ()) -> Iterator[Any]:
    """Yield an operation or a configuration with one number higher or lower, or one truth value turned round.

    `names` are the fields that may change; none: all.
    """
    for field in dataclasses.fields(value):
        number = getattr(value, field.name)
        by = {int: 1, float: 0.125}.get(type(number), 0)
        others = (not number,) if type(number) is bool else (number + by, number - by) if by else ()
        for other in others if not names or field.name in names else ():
            yield dataclasses.replace(value, **{field.name: other})


def _with_next_position(op: Any) -> Any:
    """Return an operation at the next position, if it names one."""
    position: Any = getattr(op, "pos", None)
    is_position = isinstance(position, tuple) and hasattr(position, "_replace")
    return dataclasses.replace(op, pos=position._replace(entry=position.entry + 1)) if is_position else op
