"""What the check of the rules finds."""

from __future__ import annotations

from typing import NamedTuple


class Problem(NamedTuple):
    """Something that does not agree, and the rule or file that it is about."""

    rule: str
    what: str
