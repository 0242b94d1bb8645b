"""Check one contract in a process of its own: `python -m ...contracts.child MODULE FUNCTION PATHS [NUMBER]`.

With a number, the contract is checked on the model with that seeded fault. The process prints one JSON object with
CrossHair's messages and the number of paths. The limit is a number of paths, so a slow machine gives the same verdict.
The model's decision table asks fact by fact, so that paths which end in one line count once.
"""

import importlib
import json
import sys
from collections import Counter
from typing import Final

from entrycache_evidence.core.models import use_model
from entrycache_evidence.pulsar_pip430.contracts.fixtures import CONTRACT_FAULTS, REFERENCE_MODEL, ask_fact_by_fact

NEVER: Final = 1e6
"""A time that no condition takes, in seconds."""
FOLLOWED: Final = "num_paths"
"""CrossHair's name for the number of paths."""


def main(module: str, function: str, paths: int, number: int | None) -> None:
    """Check the contract and print the verdict."""
    from crosshair.core import run_checkables  # noqa: PLC0415 - only in this process
    from crosshair.core_and_libs import analyze_function  # noqa: PLC0415
    from crosshair.enforce import EnforcedConditions  # noqa: PLC0415
    from crosshair.options import AnalysisKind, AnalysisOptionSet  # noqa: PLC0415

    # Nothing that a contract calls has a contract of its own, so there is none to look for at every call.
    EnforcedConditions.wants_codeobj = lambda *_: False  # type: ignore[method-assign]
    contract = getattr(importlib.import_module(module), function)
    followed: Counter[str] = Counter()
    options = AnalysisOptionSet(
        analysis_kind=[AnalysisKind.PEP316],
        report_all=True,
        max_iterations=paths,
        per_condition_timeout=NEVER,
        per_path_timeout=NEVER,
        stats=followed,
    )
    with use_model(ask_fact_by_fact(REFERENCE_MODEL if number is None else CONTRACT_FAULTS[number].model)):
        messages = run_checkables(analyze_function(contract, options))
    said = [{"state": message.state.name, "text": message.message} for message in messages]
    print(json.dumps({"said": said, "paths": followed[FOLLOWED]}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]) if len(sys.argv) > 4 else None)
