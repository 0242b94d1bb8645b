"""Obtain the grade *confirmed*: ask CrossHair about contracts, and show that each detects seeded faults.

A `Contract` names a module, plain inputs and a number of paths. `plan` chooses for each rule a seeded fault that the
contract detects on a plain input. `confirm` runs CrossHair in child processes: it has to confirm the contract on the
reference, and to refute it with a seeded fault. There are contracts of one decision and of one size pass; the lemmas of
z3 are about the rest.


`python -m ...contracts.evidence MODULE FUNCTION PATHS [NUMBER]` is such a child process. It prints one JSON object with
CrossHair's messages and the number of paths.
"""

import importlib
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from types import ModuleType
from typing import Any, Final, NamedTuple

from entrycache_conformance.subjects import processes
from entrycache_evidence.core import models, results, scheduler
from entrycache_evidence.pulsar_pip430.contracts.fixtures import (
    CONTRACT_FAULTS,
    REFERENCE_MODEL,
    QueueSlot,
    ask_fact_by_fact,
)
from entrycache_faults.reference.pulsar_pip430.registry import EndlessPass
from entrycache_reference.rules import Rule


def decisions() -> Iterator[tuple[Any, ...]]:
    """Yield arguments of the contract about one decision."""
    flags = (False, True)
    yield from product(flags, flags, flags, flags, (None, -1, 0, 1), (0, 1, 2), (0, 1))


def pairs(dead: bool) -> Iterator[tuple[QueueSlot, QueueSlot]]:
    """Yield pairs of slots of a size pass; with `dead`, dead ones too."""
    one = [
        QueueSlot(gone, size, 0, requeues, accessed, count)
        for gone, size, requeues, accessed, count in product(
            (False, True) if dead else (False,), (0, 2), (0, 1), (False, True), (None, 0, 1)
        )
    ]
    yield from product(one, one)


def size_pairs() -> Iterator[tuple[Any, ...]]:
    """Yield arguments of a size pass over two live entries."""
    yield from ((*pair, need) for pair in pairs(dead=False) for need in (1, 2))


def size_threes() -> Iterator[tuple[Any, ...]]:
    """Yield arguments of a size pass over three live entries: two of `size_pairs` and another one."""
    for first, second, need in size_pairs():
        yield first, second, QueueSlot(False, 1, 0, 0, False, 1), need


def size_slots() -> Iterator[tuple[Any, ...]]:
    """Yield arguments of a size pass over at most two slots."""
    yield from ((*pair, 2, need, True, 1) for pair in pairs(dead=True) for need in (1, 2))


# --- Evidence

HERE: Final = __name__.rpartition(".")[0]
HANG_SECONDS: Final = 7200.0
"""The time after which a child counts as hanging; the number of paths is the real limit, equal on any machine."""
UNFINISHED: Final = "NOT FINISHED"
"""The verdict on a contract that holds on the paths so far, while more paths are left than it may take."""


class Contract(NamedTuple):
    """A contract, plain inputs for it, and the greatest number of paths of CrossHair.

    The name is that of its module, and of its function if that is not `contract`.
    """

    name: str
    grid: Callable[[], Iterator[tuple[Any, ...]]]
    paths: int

    @property
    def module(self) -> ModuleType:
        """The imported module."""
        return importlib.import_module(f"{HERE}.{self.name.partition('.')[0]}")

    @property
    def function(self) -> str:
        """The name of the function."""
        return self.name.partition(".")[2] or "contract"

    @property
    def check(self) -> Callable[..., tuple[str, ...]]:
        """The function, which names the rules that are broken."""
        check: Callable[..., tuple[str, ...]] = getattr(self.module, self.function)
        return check


class ContractPlan(NamedTuple):
    """A contract, and for each of its rules the number of a seeded fault that it detects, or None."""

    contract: Contract
    numbers: dict[str, int | None]


CI: Final = (
    Contract("decide", decisions, 10_000),
    Contract("size_pass.pair", size_pairs, 20_000),
)
LONG: Final = (
    CI[0],
    Contract("size_pass.three", size_threes, 20_000),
)
NIGHTLY: Final = (
    CI[0],
    Contract("size_pass", size_slots, 500_000),
    *LONG[1:],
)
"""The contracts of a nightly run; the first contract that confirms a rule gives its evidence."""


def ask_crosshair(contract: Contract, fault_number: int | None = None) -> tuple[str, str]:
    """Ask CrossHair about a contract in a child process; return a state and a text.

    The state is `UNFINISHED` if paths are left.
    """
    command = [
        sys.executable,
        "-m",
        f"{HERE}.evidence",
        contract.module.__name__,
        contract.function,
        str(contract.paths),
    ]
    if fault_number is not None:
        command.append(str(fault_number))
    try:
        done = processes.run_program(command, timeout_seconds=HANG_SECONDS)
    except subprocess.TimeoutExpired:
        return UNFINISHED, f"no answer within {HANG_SECONDS:.0f} s"
    if done.returncode:
        return "CRASHED", done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "no reason given"
    answer = json.loads(done.stdout.strip().splitlines()[-1])
    messages = answer["said"]
    if len(messages) != 1:
        return "UNCLEAR", f"{len(messages)} answers for one condition"
    if messages[0]["state"] == "CANNOT_CONFIRM" and answer["paths"] >= contract.paths:
        return UNFINISHED, f"{answer['paths']} paths were followed, none breaks it, and more are left"
    return messages[0]["state"], messages[0]["text"]


def find_detected_fault(contract: Contract, rule: str) -> int | None:
    """Return the number of the first seeded fault of a rule that the contract detects on a plain input, or None."""
    check = contract.check
    own = [at for at, mutant in enumerate(CONTRACT_FAULTS) if mutant.rule.value == rule]
    others = [at for at, mutant in enumerate(CONTRACT_FAULTS) if mutant.note.startswith("The table flipped")]
    for number in [*own, *(at for at in others if at not in own)]:
        with models.use_model(CONTRACT_FAULTS[number].model):
            if _names_rule(check, contract.grid(), rule):
                return number
    return None


def _names_rule(check: Callable[..., tuple[str, ...]], grid: Iterator[tuple[Any, ...]], rule: str) -> bool:
    for values in grid:
        try:
            if rule in check(*values):
                return True
        except EndlessPass:
            continue
    return False


def plan(contracts: Sequence[Contract]) -> list[ContractPlan]:
    """Choose for each rule of each contract a seeded fault that it detects; this runs in the current process."""
    return [
        ContractPlan(contract, {rule: find_detected_fault(contract, rule) for rule in contract.module.RULES})
        for contract in contracts
    ]


def confirm(planned: Sequence[ContractPlan]) -> scheduler.Work[results.Result]:
    """Ask CrossHair about these contracts; return the evidence of each confirmed rule, and the failures."""
    evidence: dict[Rule, results.Evidence] = {}
    failures: list[str] = []
    # The large contracts stand last in the list and start first; the plan decides which contract gives the evidence.
    confirmed = yield scheduler.Batch("CrossHair", _confirm_contract, planned[::-1])
    for lines, failed in confirmed[::-1]:
        failures += failed
        for line in lines:
            evidence.setdefault(line.rule, line)
    return list(evidence.values()), failures


def _confirm_contract(planned: ContractPlan) -> results.Result:
    contract, numbers = planned
    state, text = ask_crosshair(contract)
    if state != "CONFIRMED":
        return [], [f"contract {contract.name}: {state}: {text}"]
    failures = [
        f"{rule}: contract {contract.name} detects no seeded fault" for rule, at in numbers.items() if at is None
    ]
    first = next((number for number in numbers.values() if number is not None), None)
    if first is None:
        return [], failures
    state, text = ask_crosshair(contract, first)
    if state != "POST_FAIL":
        note = CONTRACT_FAULTS[first].note
        return [], [*failures, f"contract {contract.name}: CrossHair does not refute {note!r}: {state}: {text}"]
    evidence = []
    for rule, number in numbers.items():
        if number is not None:
            how = "found by CrossHair" if number == first else "detected by the contract on a plain input"
            refuted = f"{CONTRACT_FAULTS[number].note} ({how})"
            evidence.append(
                results.Evidence(Rule(rule), "confirmed", contract.module.BOUNDS[contract.function], refuted)
            )
    return evidence, failures


# --- A child process

NEVER: Final = 1e6
"""A time that no condition takes, in seconds."""
FOLLOWED: Final = "num_paths"
"""CrossHair's name for the number of paths."""


def check_contract(module: str, function: str, paths: int, number: int | None) -> None:
    """Check one contract in this process and print the verdict.

    With a number, the contract is checked on the model with that seeded fault. The limit is a number of paths, so a
    slow machine gives the same verdict. The model's decision table asks fact by fact, so that paths which end in one
    line count once.
    """
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
    with models.use_model(ask_fact_by_fact(REFERENCE_MODEL if number is None else CONTRACT_FAULTS[number].model)):
        messages = run_checkables(analyze_function(contract, options))
    said = [{"state": message.state.name, "text": message.message} for message in messages]
    print(json.dumps({"said": said, "paths": followed[FOLLOWED]}))


if __name__ == "__main__":
    check_contract(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]) if len(sys.argv) > 4 else None)
