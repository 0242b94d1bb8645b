"""One take of a pass as a relation: the facts, the line of the table, the entry after a requeue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import z3

from entrycache_evidence.induction.symbolic import Term, merged
from entrycache_faults.model import Model
from entrycache_reference.pulsar_pip430 import passes
from entrycache_reference.pulsar_pip430.config import Config, RequeueBudget, Settings, Variants
from entrycache_reference.pulsar_pip430.decision import ANY, Action, Line
from entrycache_reference.pulsar_pip430.state import Entry

Table = tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Head:
    """Any slot at the head of the queue, any settings, any bound; all are free constants of z3."""

    gone: Any
    size: Any
    stamp: Any
    requeues: Any
    accessed: Any
    counted: Any
    count: Any
    most: Any
    extend: Any
    now: Any
    bound: Any
    time: Any

    @property
    def awaited(self) -> Any:
        """Somebody is still expected to read the entry."""
        return z3.And(self.counted, self.count > 0)

    @property
    def kept_by_access(self) -> Any:
        """The entry was accessed, and the setting makes that count."""
        return z3.And(self.extend, self.accessed)

    @property
    def sane(self) -> Any:
        """What holds for every entry and every setting by their types."""
        return z3.And(self.size >= 0, self.requeues >= 0, self.most >= 0, self.stamp <= self.now)


def any_head() -> Head:
    """Free constants."""
    integers = {name: z3.Int(name) for name in ("size", "stamp", "requeues", "count", "most", "now", "bound")}
    flags = {name: z3.Bool(name) for name in ("gone", "accessed", "counted", "extend", "time")}
    return Head(**integers, **flags)


def _terms(*values: Any) -> Any:
    return [Term(value) for value in values]


def _entry(head: Head, count: Any) -> Entry:
    size, stamp, requeues, accessed = _terms(head.size, head.stamp, head.requeues, head.accessed)
    return Entry(size, stamp, requeues, accessed, count, None)


def _settings(head: Head) -> Settings:
    most: Any = Term(head.most)
    extend: Any = Term(head.extend)
    return Settings(1, 0.9, 1, most, extend)


def _halts(model: Model, head: Head, entry: Entry | None) -> Any:
    bound: Any = Term(head.bound)
    time = merged(lambda: model["passes.halts"](passes.PassKind.TIME, bound, entry))
    size = merged(lambda: model["passes.halts"](passes.PassKind.SIZE, bound, entry))
    return z3.If(head.time, time, size)


def _facts(model: Model, head: Head) -> tuple[Any, ...]:
    entry, countless, settings = _entry(head, Term(head.count)), _entry(head, None), _settings(head)
    expected = z3.If(
        head.counted,
        merged(lambda: model["decision.expected"](entry)),
        merged(lambda: model["decision.expected"](countless)),
    )
    touched = z3.If(
        head.counted,
        merged(lambda: model["decision.touched"](entry, settings)),
        merged(lambda: model["decision.touched"](countless, settings)),
    )
    live = z3.Not(head.gone)
    return (
        head.gone,
        z3.If(head.gone, _halts(model, head, None), _halts(model, head, entry)),
        z3.And(live, touched),
        z3.And(live, expected),
        z3.And(live, merged(lambda: model["decision.spare"](entry, settings))),
    )


class Take:
    """One take, built from the lines of a table and the functions of a model."""

    def __init__(self, table: Table, model: Model, budget: RequeueBudget = RequeueBudget.SHARED) -> None:
        self.head = any_head()
        self.table = table
        self.model = model
        self.facts = _facts(model, self.head)
        matches = [self._matches(line) for line in table]
        self.fires = [z3.And(match, *(z3.Not(earlier) for earlier in matches[:at])) for at, match in enumerate(matches)]
        self.config = Config(variants=Variants(requeue_budget=budget))
        self.stamp_after = self._after("stamp_nanos")
        self.requeues_after = self._after("requeues")
        self.accessed_after = self._after("accessed")

    def _matches(self, line: Line) -> Any:
        cells = zip(line.cells, self.facts, strict=True)
        return z3.And([fact if cell else z3.Not(fact) for cell, fact in cells if cell is not ANY])

    def _after(self, field: str) -> Any:
        entry = _entry(self.head, Term(self.head.count))
        now: Any = Term(self.head.now)

        def answer(action: Action) -> Any:
            return merged(lambda: getattr(self.model["passes.requeued"](entry, now, action, self.config), field))

        access, reads = answer(Action.REQUEUE_ACCESSED), answer(Action.REQUEUE_EXPECTED)
        return z3.If(self.does(Action.REQUEUE_ACCESSED), access, reads)

    def does(self, *actions: Action) -> Any:
        """A line with one of these actions decides."""
        return z3.Or([fires for line, fires in zip(self.table, self.fires, strict=True) if line.action in actions])

    @property
    def requeues_it(self) -> Any:
        """The entry is put at the tail again."""
        return self.does(Action.REQUEUE_ACCESSED, Action.REQUEUE_EXPECTED)

    @property
    def for_access(self) -> Any:
        """The entry is requeued because it was accessed."""
        return self.does(Action.REQUEUE_ACCESSED)

    @property
    def for_reads(self) -> Any:
        """The entry is requeued because reads are expected."""
        return self.does(Action.REQUEUE_EXPECTED)

    @property
    def removes_it(self) -> Any:
        """The entry is removed."""
        return self.does(Action.REMOVE)

    @property
    def drops_it(self) -> Any:
        """The dead slot is dropped."""
        return self.does(Action.MISSING)

    @property
    def ends(self) -> Any:
        """The pass ends at this head."""
        return self.does(Action.STOP)
