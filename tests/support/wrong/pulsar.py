"""Wrong caches of `pulsar-pip430`. `python -m tests.support.wrong.pulsar NAME` serves one of them."""

from __future__ import annotations

import dataclasses
import sys
from contextlib import AbstractContextManager, ExitStack, nullcontext
from decimal import Decimal
from typing import Any, Final
from unittest.mock import patch

from entrycache_conformance.systems import SYSTEMS
from entrycache_conformance.systems.reference import reference_offer
from entrycache_protocol.server import TypedAnswerer, serve_requests
from entrycache_protocol.subject import InProcessSubject
from entrycache_reference.pulsar_pip430 import Config, decision, initial, manager, ops, outcomes, step
from entrycache_reference.pulsar_pip430.state import Cache, State, Step
from entrycache_reference.vocabulary import CacheName, Position

PULSAR: Final = SYSTEMS["pulsar-pip430"]


class Wrong:
    """The reference; each of the hooks may do one thing otherwise."""

    def __init__(self, config: Config) -> None:
        self.config = self.configured(config)
        self.state = initial(self.config)

    def __call__(self, op: Any) -> Any:
        before = self.state
        with self.changed():
            done = step(before, self.translate(op), self.config)
        done = self.done(op, before, done)
        self.state = done.state
        return done.outcome

    def configured(self, config: Config) -> Config:
        return config

    def changed(self) -> AbstractContextManager[Any]:
        return nullcontext()

    def translate(self, op: Any) -> Any:
        return op

    def done(self, op: Any, before: State, done: Step) -> Step:
        return done


class TriggerNotStrict(Wrong):
    """A pass at the trigger, not above it."""

    def changed(self) -> AbstractContextManager[Any]:
        stack = ExitStack()
        for module in (decision, manager):
            stack.enter_context(
                patch.object(module, "trigger_bytes", lambda state: int(state.settings.max_size_bytes * 0.98) - 1)
            )
        return stack


class TargetInDecimal(Wrong):
    """The target as a decimal product, where the rule truncates that of IEEE."""

    def changed(self) -> AbstractContextManager[Any]:
        def target(state: State) -> int:
            return int(Decimal(state.settings.max_size_bytes) * Decimal(str(state.settings.watermark)))

        return patch.object(decision, "target_bytes", target)


class GraceOfOneTtl(Wrong):
    """A default grace period of one time to live, not of two."""

    def configured(self, config: Config) -> Config:
        if config.grace_millis is not None:
            return config
        return dataclasses.replace(config, grace_millis=config.ttl_nanos // 1_000_000)


class RefusedInsertOpens(Wrong):
    """A refused insert opens its cache: the grace period begins."""

    def done(self, op: Any, before: State, done: Step) -> Step:
        if isinstance(op, ops.Insert) and isinstance(done.outcome, outcomes.Refused) and op.cache not in before.caches:
            opened = Cache({}, 0, grace_start_nanos=before.now_nanos)
            return done._replace(state=before._replace(caches={**before.caches, op.cache: opened}))
        return done


class Renamed(Wrong):
    """Names of caches are taken for one another."""

    def translate(self, op: Any) -> Any:
        if not hasattr(op, "cache") or not isinstance(op.cache, str):
            return op
        return dataclasses.replace(op, cache=CacheName(self.name(op.cache)))

    def name(self, name: str) -> str:
        return name


class NamesWithoutCase(Renamed):
    """Names that differ in case alone are one."""

    def name(self, name: str) -> str:
        return name.lower()


class NamesInAscii(Renamed):
    """Every character that is not ASCII becomes a question mark."""

    def name(self, name: str) -> str:
        return name.encode("ascii", "replace").decode()


class NamesTrimmed(Renamed):
    """Spaces at the ends of a name are lost."""

    def name(self, name: str) -> str:
        return name.strip()


class AtMostThree(Renamed):
    """A table of three caches: the next one is the first."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.names: list[str] = []

    def name(self, name: str) -> str:
        self.names += [] if name in self.names else [name]
        return self.names[self.names.index(name) if self.names.index(name) < 3 else 0]


class LedgersOf32Bits(Wrong):
    """Of a ledger the lower 32 bits are kept."""

    def translate(self, op: Any) -> Any:
        pos = getattr(op, "pos", None)
        if not isinstance(pos, Position) or pos.ledger < 2**32:
            return op
        return dataclasses.replace(op, pos=Position(pos.ledger % 2**32, pos.entry))


class OrderOfText(Wrong):
    """Entries are handed over in the order of their digits."""

    def done(self, op: Any, before: State, done: Step) -> Step:
        if not isinstance(op, ops.GetRange) or not isinstance(done.outcome, outcomes.Hits):
            return done
        hits = tuple(sorted(done.outcome.hits, key=lambda pos: (str(pos.ledger), str(pos.entry))))
        return done._replace(outcome=dataclasses.replace(done.outcome, hits=hits))


class BytesOf31Bits(Wrong):
    """The sum of all bytes turns negative."""

    def done(self, op: Any, before: State, done: Step) -> Step:
        if not isinstance(done.outcome, outcomes.Used) or done.outcome.bytes < 2**31:
            return done
        return done._replace(outcome=dataclasses.replace(done.outcome, bytes=done.outcome.bytes - 2**32))


class RangeOf16(Wrong):
    """A range holds sixteen entries at most."""

    def done(self, op: Any, before: State, done: Step) -> Step:
        if not isinstance(op, ops.GetRange) or not isinstance(done.outcome, outcomes.Hits):
            return done
        return done._replace(outcome=dataclasses.replace(done.outcome, hits=done.outcome.hits[:16]))


class RankOf16(Wrong):
    """No rank is above sixteen."""

    def done(self, op: Any, before: State, done: Step) -> Step:
        if not isinstance(done.outcome, outcomes.Ranked):
            return done
        return done._replace(outcome=outcomes.Ranked(min(16, done.outcome.rank)))


class ScheduledStays(Wrong):
    """An insert above the trigger while a pass is scheduled schedules another one."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.again = False

    def done(self, op: Any, before: State, done: Step) -> Step:
        if isinstance(op, ops.RunScheduled) and self.again:
            self.again = False
            return done._replace(state=done.state._replace(is_scheduled=True))
        if isinstance(op, ops.Insert) and before.is_scheduled and done.outcome == outcomes.Inserted(True):
            self.again = self.again or decision.bytes_over(done.state) > 0
        return done


LEVELS: Final[dict[type[Wrong], str]] = {
    TriggerNotStrict: "manager",
    TargetInDecimal: "reads",
    GraceOfOneTtl: "cursors",
    RefusedInsertOpens: "cursors",
    NamesWithoutCase: "range",
    NamesInAscii: "range",
    NamesTrimmed: "range",
    AtMostThree: "range",
    LedgersOf32Bits: "range",
    OrderOfText: "queue",
    BytesOf31Bits: "reads",
    RangeOf16: "range",
    RankOf16: "cursors",
    ScheduledStays: "manager",
}
"""Each with a level whose cases are to show it."""

BY_NAME: Final[dict[str, type[Wrong]]] = {kind.__name__: kind for kind in LEVELS}


UNSENT: Final[dict[type[Wrong], str]] = {GraceOfOneTtl: "grace_millis"}
"""A setting that it does not vary, so that it is not sent: it has a default of its own."""


def wrong(name: str) -> InProcessSubject:
    """One of them as a subject."""
    offer = reference_offer(PULSAR)
    unsent = UNSENT.get(BY_NAME[name])
    if unsent:
        settings = [field.name for field in dataclasses.fields(Config) if field.name not in {unsent, "variants"}]
        offer["config"] = settings
    return InProcessSubject(name, PULSAR, BY_NAME[name], offer)


if __name__ == "__main__":
    sys.exit(serve_requests(TypedAnswerer(wrong(sys.argv[1]))))
