"""R-REQUEUE-9: the loop of `run_pass` where a size pass has one round, after any number of turns, over any queue."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import z3

from entrycache_evidence.induction.lemma import Lemma, Obligation, Planted
from entrycache_evidence.induction.symbolic import Term, paths, raw
from entrycache_evidence.planted import FAULT_OF
from entrycache_evidence.pulsar_pip430.induction.loop import BOUND, SETTINGS, Run, Seen, Setting, played
from entrycache_evidence.pulsar_pip430.induction.shapes import asking, sound
from entrycache_faults.model import Model
from entrycache_reference.pulsar_pip430.config import Config, SizePassRounds, Variants
from entrycache_reference.pulsar_pip430.pass_events import PassKind
from entrycache_reference.pulsar_pip430.state import Slot
from entrycache_reference.rules import Rule

_BEFORE, _SLOTS = z3.Ints("turns_before slots_at_the_beginning")
ONE_ROUND: Final = Config(variants=Variants(size_pass_rounds=SizePassRounds.ONE))
ASKED: Final = tuple(setting for setting in SETTINGS if setting.heads and setting.is_counted)


@dataclass(frozen=True)
class Counted:
    """The run of a pass, and with what its turns asked whether they are late: slots looked at, slots there were."""

    run: Run
    asked: tuple[tuple[int, int], ...]


class _Counting:
    """Whether a turn is late, asked as if any number of turns had been made before it, over any queue."""

    def __init__(self, model: Model) -> None:
        self.asked: list[tuple[int, int]] = []
        is_late = asking(model)["passes.is_late"]

        def any_round(kind: PassKind, looked_at: int, slots: int, config: Config) -> Any:
            self.asked.append((looked_at, slots))
            return is_late(kind, Term(_BEFORE) + looked_at, Term(_SLOTS), config)

        self.model = Model(model.package, {**model.replaced, "passes.is_late": any_round})

    def run(self, setting: Setting) -> Counted:
        """One way of two turns."""
        self.asked.clear()
        run = played(self.model, setting.state(), setting.kind, ONE_ROUND)
        return Counted(run, tuple(self.asked))


@cache
def _counting(model: Model) -> _Counting:
    return _Counting(model)


def spares_one_round(counted: Counted) -> Any:
    """Each turn counts itself and those before it; one after as many as there were slots puts nothing back."""
    run, said = counted.run, []
    for at, ((before, after), asked) in enumerate(zip(run.turns, counted.asked, strict=False)):
        event, slots = after.events[-1], len(run.pre.queue)
        said.append(z3.BoolVal(asked == (at + 1, slots)))
        is_late = z3.And(z3.BoolVal(run.kind is PassKind.SIZE), _BEFORE + at >= _SLOTS)
        said.append(z3.Implies(is_late, z3.BoolVal(event.requeued is None)))
        slot = before.queue[0]
        if slot is not None and not event.halted:
            is_spared = z3.And(z3.Not(is_late), raw(run.pre.settings.extend_recently_accessed), _marked(before, slot))
            said.append(z3.Implies(is_spared, z3.BoolVal(event.requeued is not None)))
    return z3.And(said)


def _marked(before: Seen, slot: Slot) -> Any:
    mark = raw(before.entry(slot).accessed)
    return z3.BoolVal(mark) if isinstance(mark, bool) else mark


def _rounds(table: Any, model: Model) -> Iterator[Obligation]:
    counting = _counting(model)
    for setting in ASKED:
        given = z3.And(sound(setting.state()), _BEFORE >= 0, _SLOTS >= 0)
        if setting.kind is PassKind.SIZE:
            given = z3.And(given, raw(BOUND) > 0)
        said = [
            z3.Implies(condition, spares_one_round(counted))
            for condition, counted in paths(lambda: counting.run(setting), given)  # noqa: B023
        ]
        yield Obligation(setting.name, given, z3.And(said))


LEMMAS: Final = (
    Lemma(
        Rule.REQUEUE_9,
        "the loop of run_pass under variant size_pass_rounds one, any number of turns, any slots behind the head, any "
        "number of slots at the beginning: a size pass puts nothing back after that many turns, and until then, as a "
        "time pass always, what was accessed",
        _rounds,
        Planted(FAULT_OF[Rule.REQUEUE_9].note, FAULT_OF[Rule.REQUEUE_9].model),
    ),
)
"""The lemma of this module."""
