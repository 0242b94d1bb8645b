"""The public door of entrycache: everything that other projects import stands here, and what stands here is stable.

Test a cache of your own: extend `Subject` by one method for each operation, hold it to the rules with `check` in a
test, or serve it with `serve` to the command line. A method may raise `Refuse` or `Skip`.

Test it by Hypothesis: `state_machine` makes a state machine of a subject, to run, extend and shrink like any other;
`strategies` draw arguments for rules of your own.

Use a cache: `BrokerCache` follows the rules of Pulsar since PIP-430, `ThreadCache` and `CachingStore` those of Kafka
Streams, `SegmentedCache` those of Pulsar's proposed PIP-174.

Inspect a failure: `load_case` reads a case file, `play` plays it on a subject, and `audit` checks a recorded
trace. `audit` needs the extra `trace` or `spark`; nothing else here needs an extra.

    >>> from entrycache import BrokerCache
    >>> cache = BrokerCache(max_size_bytes=100)
    >>> cache.insert("orders", 1, 0, 60, value=b"hello")
    True

Each name loads only what it needs, so `import entrycache` is quick.
"""

# ruff: noqa: PLC0415 -- what is heavy is imported where it is needed

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from entrycache_protocol.server import Refuse, Skip, Subject, serve

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from entrycache import strategies
    from entrycache_conformance.state_machine import CacheMachine
    from entrycache_fast import BrokerCache, StoredEntry
    from entrycache_fast.kafka import CachingStore, ThreadCache
    from entrycache_fast.segmented import SegmentedCache
    from entrycache_protocol.case import Case
    from entrycache_spark.common.results import AuditResult

__all__ = [
    "BrokerCache",
    "CachingStore",
    "Refuse",
    "SegmentedCache",
    "Skip",
    "StoredEntry",
    "Subject",
    "ThreadCache",
    "audit",
    "check",
    "load_case",
    "play",
    "serve",
    "state_machine",
    "strategies",
]


def __getattr__(name: str) -> Any:
    """Import a cache when its name is first used."""
    if name in {"BrokerCache", "StoredEntry"}:
        import entrycache_fast

        return getattr(entrycache_fast, name)
    if name in {"CachingStore", "ThreadCache"}:
        from entrycache_fast import kafka

        return getattr(kafka, name)
    if name == "SegmentedCache":
        from entrycache_fast.segmented import SegmentedCache

        return SegmentedCache
    if name == "strategies":
        return import_module("entrycache.strategies")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def check(
    subject: type[Subject],
    levels: Sequence[str] | None = None,
    examples: int = 400,
    *,
    seed: int = 0,
    failures: str | Path | None = None,
) -> None:
    """Test a class against the rules, next to the reference and in this process.

    `levels` are the levels to test; None: all levels with an operation that the class offers. `examples` is the number
    of cases for each level. `failures` is a folder: a failing case is written there, for `entrycache replay`. There is
    no time-out; `entrycache conform` has one.

    Raises:
        AssertionError: the class breaks a rule, or so few operations were met that nothing was checked. The text names
            the rule and shows the shortest sequence, with the expected answer and the one that the class gave.
        EntrycacheError: the class is no subject; one line says why.
    """
    __tracebackhide__ = True
    from entrycache_conformance.check import check as run_check

    run_check(subject, levels, examples, seed, None if failures is None else Path(failures))


def state_machine(
    make_subject: type[Subject] | str | None = None,
    system: str | None = None,
    level: str | None = None,
    config: Mapping[str, Any] | None = None,
    *,
    command: str | None = None,
    failures: str | Path = "entrycache-failures",
) -> type[CacheMachine]:
    """Return a state machine of Hypothesis that holds a subject beside the reference, with a rule for each operation.

    `make_subject` is a class, or a name that `entrycache conform` takes, such as "fast" or "pulsar:4.2.4"; `command` is
    a program that speaks the protocol. `system` is needed only if the subject has several. `level` is the last level
    whose operations become rules; None: the last of which the subject offers one. `config` holds settings that no
    example varies. `failures` is the folder for case files.

        TestMyCache = entrycache.state_machine(MyCache).TestCase  # for pytest and unittest

    Raises:
        EntrycacheError: there is no such subject, system, level or setting; one line says why.
    """
    from entrycache_conformance.state_machine import build_state_machine

    return build_state_machine(make_subject, system, level, config, command, failures)


def load_case(path: str | Path) -> Case:
    """Read a case file: a failing case, a replay file, or the case of a seeded fault.

    Raises:
        EntrycacheError: the file cannot be read, or holds no case.
    """
    from entrycache_conformance.systems import SYSTEMS
    from entrycache_protocol.case import read_case

    return read_case(Path(path), SYSTEMS)


def play(case: Case, subject: str | type[Subject] = "reference") -> list[dict[str, Any]]:
    """Play a case on a subject and return its answers, one JSON object for each step.

    `subject` is a class, or a name that `entrycache conform` takes, such as "reference", "fast" or "pulsar:4.2.4".

    Raises:
        EntrycacheError: there is no such subject, or it cannot play this case.
        RuntimeError: the subject gave no answer.
    """
    from entrycache_conformance.resolve import PythonSubject, SubjectChoice, resolve_subject
    from entrycache_protocol.errors import UsageError
    from entrycache_protocol.subject import RunResult, SkippedRun, TestedSubject, require_supported

    tested: TestedSubject
    if isinstance(subject, str):
        tested = resolve_subject(SubjectChoice(subject, system=case.system.name))
    else:
        tested = PythonSubject(subject)
    try:
        runs = [*case.earlier, case]
        for run in runs:
            require_supported(run, tested)
        answer = tested.play(runs)[-1]
    finally:
        tested.close()
    if isinstance(answer, SkippedRun):
        raise UsageError(f"{tested.name} skipped the case: {answer.reason}")
    if not isinstance(answer, RunResult):
        raise RuntimeError(f"{tested.name} gave no answer to step {answer.step}: {answer.message}")
    return [case.system.wire.write_outcome(outcome) for outcome in answer.outcomes]


@overload
def audit(
    trace: str | Path,
    metadata: None = None,
    *,
    rules: Sequence[str] = (),
    backend: str = "spark",
    out: str | Path | None = None,
) -> AuditResult: ...


@overload
def audit(trace: DataFrame, metadata: Mapping[str, Any], *, rules: Sequence[str] = ()) -> DataFrame: ...


def audit(
    trace: str | Path | DataFrame,
    metadata: Mapping[str, Any] | None = None,
    *,
    rules: Sequence[str] = (),
    backend: str = "spark",
    out: str | Path | None = None,
) -> AuditResult | DataFrame:
    """Check a recorded trace for the rules of its system; `rules` limits the check to these ids.

    A folder is checked by a backend: "spark", "local" (DuckDB) or "replay" (the reference itself). Violations are
    written into the folder `out`. A DataFrame of a session of yours is checked within that session: `metadata` says
    what the trace is, such as `{"system": "pulsar-pip430", "threads": "many"}`, and the result is a DataFrame with one
    row for each broker and rule.

    Raises:
        EntrycacheError: the trace cannot be read, or an extra is missing; one line says which.
    """
    from entrycache_protocol.errors import UsageError, missing_extra

    try:
        if isinstance(trace, (str, Path)):
            from entrycache_spark.folders import audit_folder

            return audit_folder(Path(trace), backend, rules=rules, out=None if out is None else Path(out))
        from entrycache_spark.tasks import audit as audit_frame
        from entrycache_trace.files import Metadata
    except ModuleNotFoundError as error:
        raise missing_extra("audit", str(error.name), "trace") from None
    if metadata is None:
        raise UsageError("an audit of a DataFrame needs its metadata, such as {'system': 'pulsar-pip430'}")
    return audit_frame(trace, Metadata(**metadata), rules)
