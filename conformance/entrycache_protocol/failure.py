"""How a subject differs from the reference: where, and by which case."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

from entrycache_protocol.case import Case
from entrycache_protocol.subject import Failed, Trouble
from entrycache_protocol.system import AnySystem


class Difference(NamedTuple):
    """The first step at which a subject and the reference part; `got` None: the run did not answer."""

    at: int
    expected: Any
    got: Any
    failed: Failed | None = None

    @property
    def is_silent(self) -> bool:
        """Whether the run gave no answer to this step."""
        return self.failed is not None and self.failed.trouble is not Trouble.LEAKED


class FailingCase(NamedTuple):
    """A case on which a subject and the reference differ, with the reference's steps.

    `repeats`: it differed again on a fresh process, after the runs before it, if it has any. `unconfirmed`: why nobody
    knows, empty where it was tried.
    """

    case: Case
    steps: list[Any]
    difference: Difference
    repeats: bool = True
    unconfirmed: str = ""

    def as_reported(self, rules: tuple[str, ...] = ()) -> Case:
        """The case as its file tells it: with the reference's answers, those of the subject, and the rules."""
        write = self.case.system.wire.write_outcome
        right = tuple(write(done.outcome) for done in self.steps)
        difference = self.difference
        return dataclasses.replace(
            self.case,
            outcomes=right,
            got=() if difference.got is None else (*right[: difference.at], write(difference.got)),
            rules=rules,
            note=difference.failed.message if difference.failed is not None else "",
        )


def failed_json(failed: Failed) -> dict[str, str]:
    """How a run failed to answer."""
    return {"failed": failed.trouble.value, "message": failed.message}


def got_json(system: AnySystem, difference: Difference) -> Any:
    """What the subject answered, or how it failed to."""
    if difference.failed is not None:
        return failed_json(difference.failed)
    return system.wire.write_outcome(difference.got)


def expected_json(system: AnySystem, difference: Difference) -> Any:
    """What the reference answers at the difference; null where there is no step."""
    return None if difference.expected is None else system.wire.write_outcome(difference.expected)
