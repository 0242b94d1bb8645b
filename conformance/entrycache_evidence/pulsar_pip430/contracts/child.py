"""One contract in a process of its own: `python -m ...contracts.child MODULE SECONDS [NUMBER]`.

With a number, the model with that planted error is asked. Prints one JSON array: what CrossHair says.
"""

from __future__ import annotations

import importlib
import json
import sys
from contextlib import nullcontext

from entrycache_evidence.pulsar_pip430.contracts.planted import PLANTED
from entrycache_evidence.under import under


def main(module: str, seconds: float, number: int | None) -> None:
    """Check the contract and print the verdict."""
    from crosshair.core import run_checkables  # noqa: PLC0415 - only in this process
    from crosshair.core_and_libs import analyze_function  # noqa: PLC0415
    from crosshair.options import AnalysisKind, AnalysisOptionSet  # noqa: PLC0415

    contract = importlib.import_module(module).contract
    options = AnalysisOptionSet(
        analysis_kind=[AnalysisKind.PEP316],
        report_all=True,
        per_condition_timeout=seconds,
        per_path_timeout=seconds,
    )
    with nullcontext() if number is None else under(PLANTED[number].model):
        messages = run_checkables(analyze_function(contract, options))
    print(json.dumps([{"state": message.state.name, "text": message.message} for message in messages]))


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else None)
