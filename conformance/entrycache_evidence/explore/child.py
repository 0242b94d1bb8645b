"""The worlds of a system in a process of their own: `python -m ... SYSTEM PROFILE`.

Prints one JSON object: the evidence, and what failed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from entrycache_evidence.evidence import Evidence
from entrycache_evidence.explore.evidence import Result, exhaust_system
from entrycache_reference.rules import Rule

NICE: Final = 5
COMMAND: Final = (sys.executable, "-m", __name__)


@contextmanager
def beside(system: str, profile: str) -> Iterator[Callable[[], Result]]:
    """Exhaust the worlds beside what the block does; the function waits for what was found."""
    child = subprocess.Popen([*COMMAND, system, profile], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def found() -> Result:
        out, errors = child.communicate()
        if child.returncode:
            said = (errors.strip().splitlines() or [f"exit code {child.returncode}"])[-1]
            return [], [f"the worlds of {system}: their process ended early: {said}"]
        value = json.loads(out)
        return [Evidence(Rule(rule), *rest) for rule, *rest in value["evidence"]], value["failures"]

    try:
        yield found
    finally:
        if child.poll() is None:
            child.kill()
            child.communicate()


def main(system: str, profile: str) -> None:
    """Exhaust the worlds and print what was found; CrossHair, which has a time limit, goes first on the processor."""
    os.nice(NICE)
    evidence, failures = exhaust_system(system, profile)
    told = [[item.rule.value, *item[1:]] for item in evidence]
    print(json.dumps({"evidence": told, "failures": failures}))


if __name__ == "__main__":
    main(*sys.argv[1:])
