"""In which world each planted fault was seen soonest, as committed: docs/soonest.json.

It is looked for there first, and nothing is believed: where that world does not show it, all are asked.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from entrycache_evidence.in_docs import in_docs, read, write_anew
from entrycache_reference.rules import Rule

NAME: Final = "soonest.json"


def path() -> Path | None:
    """The committed names, in a source checkout."""
    return in_docs(NAME)


def committed() -> dict[Rule, str]:
    """The name of a world for each rule whose planted fault was looked for; none outside of a source checkout."""
    held = read(path())
    return {} if held is None else {Rule(rule): world for rule, world in held["worlds"].items()}


def write(held: Mapping[Rule, str]) -> None:
    """Write docs/soonest.json of this checkout, in the order of rules.

    Raises:
        FileNotFoundError: this is not a source checkout.
    """
    lines = {rule.value: held[rule] for rule in Rule if rule in held}
    write_anew(NAME, path(), json.dumps({"schema": 1, "worlds": lines}, indent=1) + "\n")
