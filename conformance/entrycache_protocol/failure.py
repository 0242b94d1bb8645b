"""How a subject differs from the reference: where, and by which case."""

from __future__ import annotations

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


class Failure(NamedTuple):
    """A case on which a subject and the reference differ, with the reference's steps."""

    case: Case
    steps: list[Any]
    difference: Difference


def got_json(system: AnySystem, difference: Difference) -> Any:
    """What the subject answered, or how it failed to."""
    if difference.failed is not None:
        return {"failed": difference.failed.trouble.value, "message": difference.failed.message}
    return system.wire.write_outcome(difference.got)


def expected_json(system: AnySystem, difference: Difference) -> Any:
    """What the reference answers at the difference; null where there is no step."""
    return None if difference.expected is None else system.wire.write_outcome(difference.expected)
