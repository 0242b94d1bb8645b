"""How long a run is, and what it must at least have met."""

from __future__ import annotations

from typing import Final, NamedTuple


class Profile(NamedTuple):
    """Examples a level, and the least number of judged steps a rule and of visits a decision cell."""

    examples: int
    rule_minimum: int
    cell_minimum: int


PROFILES: Final = {
    "dev": Profile(400, 20, 5),
    "ci": Profile(1_500, 200, 50),
    "nightly": Profile(30_000, 2_000, 500),
}
