"""Play a pack of vectors on a subject and judge every answer.

Cases that the subject cannot play are counted by reason. The outcomes in the file must be the reference's;
otherwise the pack was made by other rules.
"""

import dataclasses
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

from entrycache_conformance import explain, failure, levels
from entrycache_conformance.judge import judge
from entrycache_conformance.report import WITH_EXCEPTIONS, Exemption, find_exemptions
from entrycache_conformance.systems import SYSTEMS
from entrycache_conformance.vectors.packs import read_pack
from entrycache_protocol import errors, strict_json
from entrycache_protocol.case import Case, case_from_json, case_to_json, config_to_json
from entrycache_protocol.subject import FailingCase, SkippedRun, TestedSubject, require_supported

BATCH: Final = 200
MAX_FAILURES: Final = 10
"""The number of failures that ends a pack: each is explained, and one fault shows in many."""


LEAST_SHARE: Final = 10
"""The least share of the cases of the subject's system that a verdict needs: one of so many."""

LEAST_CASES: Final = 10
"""The least number of different cases that a verdict needs."""


class Vector(NamedTuple):
    """A case of a pack with the reference's steps through it."""

    case: Case
    steps: list[Any]


@dataclass(slots=True)
class PackResult:
    """The result of a pack. `not_played` counts the cases that were not played, by reason.

    `of_system` are the different cases of the subject's system, because a pack may hold cases of several systems or one
    case many times. `distinct` are those of them that were played. Both hold hashes.
    `ended` says that every case was read; `sha256` is then the hash of its text. `varied` says that some lookup whose
    answer is compared had two different answers. `declared` are the exceptions that the subject declares.
    """

    cases: int = 0
    played: int = 0
    steps: int = 0
    not_played: Counter[str] = field(default_factory=Counter)
    failures: list[failure.Failure] = field(default_factory=list)
    of_system: set[bytes] = field(default_factory=set)
    distinct: set[bytes] = field(default_factory=set)
    ended: bool = False
    sha256: str = ""
    varied: bool = False
    declared: tuple[Exemption, ...] = ()

    @property
    def exceptions(self) -> tuple[Exemption, ...]:
        """The parts that the verdict does not cover: declared ones, and cases of the system that were not played."""
        unplayed = len(self.of_system) - len(self.distinct)
        if not (unplayed and self.ended):
            return self.declared
        what = f"{unplayed} of {len(self.of_system)} different cases of the subject's system"
        return (*self.declared, Exemption("not played", what, "the subject cannot play them, or skipped them"))

    @property
    def headline(self) -> str:
        """The verdict in words: a subject with exceptions does not simply conform."""
        limited = self.verdict is errors.Verdict.CONFORMS and self.exceptions
        return WITH_EXCEPTIONS if limited else self.verdict.value

    @property
    def verdict(self) -> errors.Verdict:
        """The verdict of the pack. It does not conform if it was interrupted, or if too little of it was played."""
        if self.failures:
            return errors.Verdict.VIOLATES
        return errors.Verdict.NOTHING_CHECKED if self.unchecked_reason or not self.ended else errors.Verdict.CONFORMS

    @property
    def unchecked_reason(self) -> str:
        """The reason why the cases played are too few for a verdict, or show nothing; empty if they are enough."""
        frequent = next((reason for reason, _ in self.not_played.most_common(1)), "")
        if not self.played:
            return frequent or "the pack holds no case"
        if not self.steps:
            return "no case of the pack has a step"
        played = f"{len(self.distinct)} of {len(self.of_system)} different cases of the subject's system were played"
        if len(self.distinct) * LEAST_SHARE < len(self.of_system):
            return f"{played}; a verdict needs one of {LEAST_SHARE}"
        if len(self.distinct) < LEAST_CASES:
            return f"{played}; a verdict needs {LEAST_CASES}"
        return "" if self.varied else levels.NOTHING_FOUND


def play_pack(path: Path, subject: TestedSubject, failures: Path, notify: Callable[[int], None]) -> PackResult:
    """Play every case of a pack that the subject supports.

    Raises:
        UsageError: the pack cannot be read, or its outcomes are not the reference's.
        BrokenSubject: the subject does not speak the protocol.
        Interrupted: with what was judged by then.
    """
    declaration = subject.declaration
    done = PackResult(declared=tuple(find_exemptions(declaration, {})))
    lookups = levels.compared_lookups(declaration, declaration.system.levels)
    first_answers: dict[str, Any] = {}
    text = hashlib.sha256()
    vectors = _playable_vectors(path, subject, done, text)
    with errors.keep_partial_result(lambda: done):
        while batch := list(islice(vectors, BATCH)):
            answers = subject.play([vector.case for vector in batch])
            for vector, answer in zip(batch, answers, strict=True):
                if isinstance(answer, SkippedRun):
                    done.not_played[f"the subject skipped it: {answer.reason}"] += 1
                    continue
                done.played += 1
                done.distinct.add(_hash_case(vector.case))
                done.steps += len(vector.steps)
                done.varied = done.varied or levels.has_two_answers(lookups, vector.case, vector.steps, first_answers)
                difference = judge(vector.case, vector.steps, answer, declaration)
                if difference is None:
                    continue
                failing = FailingCase(vector.case, vector.steps, difference)
                done.failures.append(explain.write_failure(subject, failing, failures, vector.case.system.levels[-1]))
                if len(done.failures) == MAX_FAILURES or failing.is_hang:
                    return done
            notify(done.cases)
    done.ended = True
    done.sha256 = text.hexdigest()
    return done


def _playable_vectors(path: Path, subject: TestedSubject, done: PackResult, text: Any) -> Iterator[Vector]:
    """Yield the vectors that a subject supports, and count the others."""
    for number, line in read_pack(path):
        text.update(line)
        done.cases += 1
        where = f"{path}, line {number}"
        try:
            value = strict_json.parse_json_text(line.decode("utf-8"), where)
        except UnicodeDecodeError:
            raise errors.UsageError(f"{where}: it is not UTF-8 text") from None
        try:
            case = case_from_json(value, SYSTEMS)
        except errors.UsageError as error:
            raise errors.UsageError(f"{where}: {error}") from None
        if case.system is subject.declaration.system:
            done.of_system.add(_hash_case(case))
        reason = _unsupported_reason(case, subject)
        if reason:
            done.not_played[reason] += 1
            continue
        steps = _run_reference(case)
        _require_outcomes(case, steps, where)
        if _shows_variants(case, steps, subject):
            done.not_played[f"{subject.name} follows variants that show in it; see entrycache conform"] += 1
            continue
        yield Vector(dataclasses.replace(case, outcomes=()), steps)


def _hash_case(case: Case) -> bytes:
    """Return a hash that two cases share if they have the same configuration and steps."""
    essentials = dataclasses.replace(case, outcomes=(), got=(), note="")
    return hashlib.sha256(json.dumps(case_to_json(essentials), sort_keys=True).encode()).digest()


def _unsupported_reason(case: Case, subject: TestedSubject) -> str:
    """Return the reason why a subject cannot play a case; empty if it can.

    A setting that the subject does not accept is a reason, unless the subject has that value by default.
    """
    try:
        require_supported(case, subject)
    except errors.UsageError as error:
        return str(error)
    declaration = subject.declaration
    exceeded = declaration.find_exceeded(case.steps)
    if exceeded:
        return f"{subject.name}: {exceeded}"
    base = declaration.base_config()
    names = sorted({each.name for each in dataclasses.fields(base)} - {"variants"})
    varied = {name: getattr(case.config, name) for name in names if declaration.varies(name)}
    offered, requested = (
        config_to_json(case.system, each) for each in (dataclasses.replace(base, **varied), case.config)
    )
    return next((f"{subject.name} does not accept {name}" for name in names if offered[name] != requested[name]), "")


def _run_reference(case: Case) -> list[Any]:
    """Return the reference's steps through a case without checking laws, which were checked when the pack was made."""
    state = case.system.model.initial(case.config)
    steps = []
    for op in case.steps:
        steps.append(case.system.model.step(state, op, case.config))
        state = steps[-1].state
    return steps


def _require_outcomes(case: Case, steps: list[Any], where: str) -> None:
    """Check that the outcomes of the file are the reference's.

    Raises:
        UsageError: they are others; the file was made by other rules, or changed.
    """
    if len(case.outcomes) != len(steps):
        raise errors.UsageError(f"{where}: {len(case.outcomes)} outcomes for {len(steps)} steps; expected one a step")
    for index, (done, outcome) in enumerate(zip(steps, case.outcomes, strict=True)):
        if not strict_json.is_same_json(outcome, case.system.wire.write_outcome(done.outcome)):
            raise errors.UsageError(
                f"{where}: the outcome of step {index} is not the reference's; make the pack again with this version "
                "(entrycache vectors fill)"
            )


def _shows_variants(case: Case, steps: list[Any], subject: TestedSubject) -> bool:
    """Return whether the reference answers differently under the variants that a subject declares."""
    variants = subject.declaration.base_config().variants
    if variants == case.config.variants:
        return False
    like = dataclasses.replace(case, config=dataclasses.replace(case.config, variants=variants))
    return any(one.outcome != other.outcome for one, other in zip(steps, _run_reference(like), strict=True))
