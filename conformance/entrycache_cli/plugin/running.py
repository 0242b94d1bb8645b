"""One run of the suite that all tests of a session share: it begins with the first of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from entrycache_cli.definition import definition_for
from entrycache_cli.plugin.shared import once
from entrycache_cli.report.about import about, with_about
from entrycache_conformance.known.entry import Entry, read_known
from entrycache_conformance.known.run import KnownReport, conform_knowing
from entrycache_conformance.levels import asked_levels
from entrycache_conformance.profiles import PROFILES
from entrycache_conformance.report import RunReport
from entrycache_conformance.rule_levels import rule_levels
from entrycache_conformance.run import Options, conform
from entrycache_conformance.subjects.resolve import Choice, resolve
from entrycache_protocol.errors import UsageError


class Running:
    """The subject of a session, the tests there are of it, and the report once there is one."""

    def __init__(self, asked: Mapping[str, str], place: Path | None = None) -> None:
        """Start the subject; `place`: the folder that several processes share, which make one run together.

        Raises:
            EntrycacheError: there is no such subject, level, profile or file, or it does not start.
        """
        self._place = place
        self._profile, self._seed = asked["profile"] or "dev", seed_of(asked["seed"])
        if self._profile not in PROFILES:
            raise UsageError(f"unknown profile {self._profile!r}; expected one of: {', '.join(PROFILES)}")
        self._failures = Path(asked["failures"] or "entrycache-failures")
        self._known = Path(asked["known"]) if asked["known"] else None
        self.entries: tuple[Entry, ...] = () if self._known is None else read_known(self._known)
        name, command, system = (asked[key] or None for key in ("subject", "command", "system"))
        self._choice = Choice(name, command, None, system)
        self.subject = resolve(self._choice)
        levels = [level for part in asked["levels"].split(",") if (level := part.strip())]
        try:
            self.levels = asked_levels(self.subject.declaration, levels)
        except UsageError:
            self.subject.close()
            raise
        self._answer: KnownReport | Exception | None = None

    def rules(self) -> dict[str, list[str]]:
        """Of each level the rules that can be met there with what the subject offers."""
        declaration = self.subject.declaration
        order = [*declaration.system.levels, *self.levels]
        met = rule_levels(declaration.system).items()
        return {
            level: [
                rule
                for rule, first in met
                if (first.level == level if not first.ops else set(first.ops) & declaration.ops)
                and order.index(first.level) <= order.index(level)
                and bool(first.ops) == (level in declaration.system.levels)
            ]
            for level in self.levels
        }

    def report(self, levels: frozenset[str]) -> KnownReport:
        """The report of these levels, made once.

        Raises:
            EntrycacheError: the subject is broken; for each test anew.
        """
        if self._answer is None:
            asked = tuple(level for level in self.levels if level in levels)
            self._answer = once(self._place, lambda: self._tried(asked))
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer

    def _tried(self, levels: tuple[str, ...]) -> KnownReport | Exception:
        try:
            return self._run(levels)
        except Exception as error:
            return error

    def _run(self, levels: tuple[str, ...]) -> KnownReport:
        definition = definition_for(self.subject)
        options = Options(levels, PROFILES[self._profile], self._seed, 0.0, self._failures, definition=definition)
        told = about(self.subject, self._profile, self._seed, 0.0)

        def whole(report: RunReport) -> RunReport:
            return with_about(report, told, self._choice)

        if self._known is None:
            return KnownReport(whole(conform(self.subject, options)), (), ())
        knowing = conform_knowing(self.subject, options, self.entries, self._known.parent, lambda *_: None)
        return knowing._replace(report=whole(knowing.report))


def seed_of(text: str) -> int:
    """The seed that is asked for; 0 where none is.

    Raises:
        UsageError: it is no whole number.
    """
    try:
        return int(text or "0")
    except ValueError:
        raise UsageError(f"the seed is {text!r}; expected a whole number") from None
