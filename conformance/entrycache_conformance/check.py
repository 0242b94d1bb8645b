"""One run as an assertion, for the test suite of an author.

`check` judges a Python class and raises an AssertionError whose text is the shortest failing sequence.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from entrycache_conformance import explain, resolve, run, shrink
from entrycache_conformance.failure import Failure
from entrycache_conformance.generate import shrink_case
from entrycache_conformance.judge import Coverage, find_difference, run_reference
from entrycache_conformance.levels import Profile, select_levels
from entrycache_conformance.report import RunReport
from entrycache_protocol import case, codec, errors, files, server
from entrycache_protocol.subject import FailingCase, TestedSubject


def check(
    subject: type[server.Subject], levels: Sequence[str] | None, examples: int, seed: int, failures: Path | None
) -> None:
    """Judge the class of an author; see `entrycache.check`.

    Raises:
        AssertionError: it breaks a rule, or nothing was checked.
        EntrycacheError: it is no subject.
    """
    __tracebackhide__ = True
    tested = resolve.PythonSubject(subject)
    requested = select_levels(tested.declaration, [levels] if isinstance(levels, str) else levels or ())
    with files.scratch_folder() as passing:
        options = run.Options(requested, profile_for_examples(examples), seed, 0.0, failures or passing)
        report = run.conform(tested, options)
    text = failure_text(tested, report, keeps_files=failures is not None)
    if text:
        raise AssertionError(text)


def profile_for_examples(examples: int) -> Profile:
    """Return a profile that demands as much of these examples as the profile `dev` demands of its 400."""
    return Profile(examples, max(1, examples // 20), max(1, examples // 80))


def failure_text(subject: resolve.PythonSubject, report: RunReport, keeps_files: bool) -> str:
    """Return the failures as text; empty if there is none."""
    parts = []
    for failure in report.failures:
        parts.append(sequence_text(subject, failure))
        parts += [f"case file: {failure.case}"] if keeps_files else []
    unchecked = [name for name, level in report.levels.items() if level.verdict is errors.Verdict.NOTHING_CHECKED]
    if not parts and unchecked:
        reasons = "; ".join(f"{skip.what}: {skip.reason}" for skip in report.skipped)
        parts.append(f"nothing was checked of {subject.name} at {', '.join(unchecked)}: {reasons}")
    return "\n".join(parts)


def sequence_text(subject: TestedSubject, failure: Failure) -> str:
    """Return the shortest sequence, one step per line, with the expected and the actual answer; for threads, the
    events.
    """
    failing = failure.source
    if failure.schedules is not None or not isinstance(failing, FailingCase):
        return "" if failure.schedules is None else failure.schedules.in_words
    system = failing.case.system
    sent = subject.declaration.sent_keys - {*failing.case.omitted}
    config = case.config_to_json(system, failing.case.config, sent)
    lines = [
        f"{subject.name} breaks {', '.join(failure.rules)} at step {failure.step}",
        f"config {codec.format_json(config)}",
    ]
    for at, (op, done) in enumerate(zip(failing.case.steps, failing.steps, strict=True)):
        if at > failure.step:
            break
        answer = f" -> {codec.format_json(system.wire.write_outcome(done.outcome))}" if at < failure.step else ""
        lines.append(f"step {at}: {type(op).name}  {codec.format_arguments(op)}{answer}")
    lines += [f"  expected {codec.format_json(failure.expected)}", f"  got      {codec.format_json(failure.got)}"]
    if failing.difference.failed is not None:
        traceback = subject.traceback(failing.case) if isinstance(subject, resolve.PythonSubject) else failure.log
        lines.append(traceback.rstrip())
    lines.append(f"what the rule says: entrycache rules {failure.rules[0]}")
    return "\n".join(line for line in lines if line)


class FailureText:
    """The text of a failure, made when it is first asked for: the steps, the rule and the case file."""

    def __init__(self, subject: TestedSubject, failing: FailingCase, failures: Path, level: str) -> None:
        self._subject, self._failing, self._failures, self._level = subject, failing, failures, level

    def __repr__(self) -> str:
        """Return the text, and write the case file."""
        failing, fails_alone = self._shorten()
        failure = explain.write_failure(self._subject, failing, self._failures, self._level)
        lines = [sequence_text(self._subject, failure)]
        unneeded = len(self._failing.case.steps) - len(failing.case.steps)
        if unneeded:
            lines.append(f"left out: {unneeded} steps that this failure does not need")
        if failure.unwritten:
            lines.append(f"case file: none ({failure.unwritten})")
        else:
            lines.append(f"case file: {failure.case}")
        if not fails_alone and not self._failing.difference.is_unanswered:
            lines.append("the case alone does not fail: a rule of your own takes part in it")
        return "\n".join(lines)

    def _shorten(self) -> tuple[FailingCase, bool]:
        """Drop the steps that the failure does not need, and return whether the case alone fails.

        Hypothesis limits its shrinking, so it may leave steps of a failure with many arguments.
        """
        case, differs = self._failing.case, partial(find_difference, self._subject)
        difference = differs(case)
        if difference is None or case.earlier:
            return self._failing, difference is not None
        shorter, difference = shrink_case(case, difference, differs, shrink.MAX_SHORTEN_TRIES)
        if len(shorter.steps) == len(case.steps):
            return self._failing, True
        return FailingCase(shorter, run_reference(shorter, Coverage()), difference), True
