"""Mutants of the reference: one realistic error a rule, and every cell of the decision table flipped.

They show that a rule's own checks see that rule, and that they alone do. They are no subjects.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from types import ModuleType
from typing import Final, NamedTuple

from entrycache_conformance.museum import wrong, wrong_passes
from entrycache_reference.pulsar_pip430 import decision, insert, ops, passes, read, remove
from entrycache_reference.pulsar_pip430.decision import ANY, DECISION, Action, Facts, Line, lookup
from entrycache_reference.rules import Rule


class Mutant(NamedTuple):
    """An error in the reference: attributes of modules that are replaced while it is applied."""

    rule: Rule
    note: str
    patches: tuple[tuple[ModuleType, str, object], ...]


@contextmanager
def applied(mutant: Mutant) -> Iterator[None]:
    """The reference with this error, until the end of the block."""
    before = [(module, name, getattr(module, name)) for module, name, _ in mutant.patches]
    try:
        for module, name, value in mutant.patches:
            setattr(module, name, value)
        yield
    finally:
        for module, name, value in before:
            setattr(module, name, value)


def _op(function: wrong.Function, *types: type[ops.Op]) -> tuple[tuple[ModuleType, str, object], ...]:
    table = {**wrong.step_module.FUNCTIONS, **dict.fromkeys(types, function)}
    return ((wrong.step_module, "FUNCTIONS", table),)


def _in(module: ModuleType, name: str, function: object) -> tuple[tuple[ModuleType, str, object], ...]:
    return ((module, name, function),)


_TIME: Final = ((passes, "halts", wrong_passes.halts_remembering_the_kind),)
"""`decide` is not told which pass asks; these mutants remember what `halts` was told last."""

MUTANTS: Final[tuple[Mutant, ...]] = (
    Mutant(
        Rule.STATE_1,
        "An insert adds its size twice to the bytes of the manager.",
        _in(insert, "add_entry", wrong.add_entry_counted_twice),
    ),
    Mutant(
        Rule.STATE_2,
        "Entries removed by a call leave live slots behind.",
        _in(remove, "drop_entries", wrong.drop_entries_leaving_slots),
    ),
    Mutant(
        Rule.STATE_3,
        "A removal rebuilds the queue cache by cache and loses the order of ages.",
        _in(remove, "drop_entries", wrong.drop_entries_rebuilding_the_queue),
    ),
    Mutant(
        Rule.STATE_4,
        "Entries older than the time to live leave when time passes.",
        _op(wrong.advance_expiring, ops.Advance),
    ),
    Mutant(
        Rule.STATE_5,
        "A refused insert opens its cache.",
        _op(wrong.insert_opening_when_refused, ops.Insert),
    ),
    Mutant(
        Rule.STATE_6,
        "A negative advance is taken for one by 0.",
        _op(wrong.advance_ignoring_negative, ops.Advance),
    ),
    Mutant(Rule.STATE_7, "exists marks the entry accessed.", _op(wrong.exists_marking, ops.Exists)),
    Mutant(
        Rule.STATE_8,
        "Each entry of a removed range is reported as removed twice.",
        _in(remove, "removal", wrong.removal_told_twice),
    ),
    Mutant(
        Rule.STATE_9,
        "A step that only looks opens no cache.",
        _in(wrong.step_module, "opened", wrong.opened_by_inserts_only),
    ),
    Mutant(Rule.INSERT_1, "A new entry counts as accessed.", _in(insert, "new_entry", wrong.new_entry_marked)),
    Mutant(
        Rule.INSERT_2,
        "A duplicate renews the count of expected reads.",
        _op(wrong.insert_renewing_the_count, ops.Insert),
    ),
    Mutant(Rule.INSERT_3, "A limit of 0 stands for no limit.", _op(wrong.insert_unlimited, ops.Insert)),
    Mutant(
        Rule.INSERT_4,
        "An entry that nobody is expected to read carries the count 0.",
        _in(insert, "initial_count", wrong.initial_count_zero),
    ),
    Mutant(
        Rule.INSERT_5,
        "A negative size is answered as a duplicate is.",
        _op(wrong.insert_not_refusing, ops.Insert),
    ),
    Mutant(
        Rule.INSERT_6,
        "The count is a flag: at most 1.",
        _in(insert, "initial_count", wrong.initial_count_flag),
    ),
    Mutant(Rule.READ_1, "A get answers a miss for an entry of size 0.", _op(wrong.get_missing_empty, ops.Get)),
    Mutant(Rule.READ_2, "A hit leaves no mark.", _op(wrong.get_not_marking, ops.Get)),
    Mutant(
        Rule.READ_3,
        "get_range answers in descending order.",
        _in(read, "positions_between", wrong.positions_descending),
    ),
    Mutant(Rule.READ_4, "get_range marks the first entry only.", _op(wrong.get_range_marking_one, ops.GetRange)),
    Mutant(Rule.READ_5, "Reversed bounds are put in order.", _op(wrong.get_range_reordering, ops.GetRange)),
    Mutant(Rule.READ_6, "An entry of size 0 does not exist.", _op(wrong.exists_missing_empty, ops.Exists)),
    Mutant(Rule.COUNT_1, "A count stops at 0.", _op(wrong.mark_read_with_floor, ops.MarkRead)),
    Mutant(
        Rule.COUNT_2,
        "A count that has come to 0 cannot rise again.",
        _op(wrong.expect_read_not_reviving, ops.ExpectRead),
    ),
    Mutant(
        Rule.COUNT_3,
        "expect_read gives an entry without a count the count 1.",
        _op(wrong.expect_read_starting_a_count, ops.ExpectRead),
    ),
    Mutant(Rule.COUNT_4, "mark_read marks the entry accessed.", _op(wrong.mark_read_marking, ops.MarkRead)),
    Mutant(
        Rule.EXPIRE_1,
        "A time pass takes entries as old as the cutoff.",
        _in(passes, "halts", wrong_passes.halts_after_the_cutoff),
    ),
    Mutant(
        Rule.EXPIRE_2,
        "A time pass ends at an accessed entry.",
        _in(passes, "halts", wrong_passes.halts_at_an_accessed_entry),
    ),
    Mutant(
        Rule.EXPIRE_3,
        "Without an age, entries as old as the time to live are expired.",
        _in(passes, "cutoff", wrong_passes.cutoff_off_by_one),
    ),
    Mutant(
        Rule.EXPIRE_4,
        "A negative age is taken for 0.",
        _op(wrong_passes.expire_not_refusing, ops.Expire),
    ),
    Mutant(
        Rule.EXPIRE_5,
        "An age below the time to live is raised to it.",
        _in(passes, "cutoff", wrong_passes.cutoff_at_least_ttl),
    ),
    Mutant(
        Rule.EVICT_1,
        "A size pass that has enough halts at a dead slot.",
        _in(decision, "LOOKUP", wrong_passes.STOP_AT_DEAD),
    ),
    Mutant(
        Rule.EVICT_2,
        "A pass takes the mark of the entry at which it halts.",
        _in(passes, "run_pass", wrong_passes.pass_unmarking_the_head),
    ),
    Mutant(
        Rule.EVICT_3,
        "An entry that expects nobody is kept as long as its budget lasts.",
        _in(decision, "touched", wrong_passes.touched_on_budget),
    ),
    Mutant(
        Rule.EVICT_4,
        "A size pass is content with one byte too few.",
        _in(passes, "halts", wrong_passes.halts_one_byte_early),
    ),
    Mutant(
        Rule.EVICT_5,
        "A size pass that has freed exactly what it needs takes one more.",
        _in(passes, "halts", wrong_passes.halts_one_late),
    ),
    Mutant(
        Rule.EVICT_6,
        "evict of 0 or fewer bytes answers 0, 0.",
        _op(wrong_passes.evict_not_refusing, ops.Evict),
    ),
    Mutant(
        Rule.EVICT_7,
        "A pass counts dead slots as evicted entries.",
        _in(passes, "run_pass", wrong_passes.pass_counting_dead_slots),
    ),
    Mutant(
        Rule.EVICT_8,
        "A pass collects what it requeues on a stack and puts it back at its end.",
        _in(passes, "run_pass", wrong_passes.pass_stacking_requeues),
    ),
    Mutant(
        Rule.REQUEUE_1,
        "The budget bounds extensions by access.",
        _in(decision, "touched", wrong_passes.touched_within_budget),
    ),
    Mutant(
        Rule.REQUEUE_2,
        "The last extension of the budget is not given.",
        _in(decision, "spare", wrong_passes.spare_one_less),
    ),
    Mutant(
        Rule.REQUEUE_3,
        "A time pass takes an exhausted entry for an accessed one.",
        (*_TIME, (passes, "decide", wrong_passes.decide_keeping_exhausted)),
    ),
    Mutant(
        Rule.REQUEUE_4,
        "An extension because of expected reads leaves the mark.",
        _in(passes, "requeued", wrong_passes.requeued_still_marked),
    ),
    Mutant(
        Rule.REQUEUE_5,
        "An extension by access is not counted.",
        _in(passes, "requeued", wrong_passes.requeued_free_by_access),
    ),
    Mutant(
        Rule.REQUEUE_6,
        "A time pass grants one extension above the budget.",
        (*_TIME, (passes, "decide", wrong_passes.decide_one_above_the_budget)),
    ),
    Mutant(
        Rule.REQUEUE_7,
        "Access extends the stay whatever the setting.",
        _in(decision, "touched", wrong_passes.touched_always),
    ),
    Mutant(
        Rule.REQUEUE_8,
        "A count of 0 still expects a read.",
        _in(decision, "expected", wrong_passes.expected_at_zero),
    ),
    Mutant(
        Rule.INVALIDATE_1,
        "remove_range leaves the entry at its beginning.",
        _in(remove, "positions_between", wrong.positions_after_the_first),
    ),
    Mutant(
        Rule.INVALIDATE_2,
        "remove_range always includes its end.",
        _op(wrong.remove_range_inclusive, ops.RemoveRange),
    ),
    Mutant(
        Rule.INVALIDATE_3,
        "Reversed bounds are put in order.",
        _op(wrong.remove_range_reordering, ops.RemoveRange),
    ),
    Mutant(Rule.INVALIDATE_4, "clear empties the first ledger only.", _op(wrong.clear_first_ledger, ops.Clear)),
    Mutant(
        Rule.INVALIDATE_5,
        "Removals by a call answer the number of entries twice.",
        _op(wrong.remove_range_numbers_only, ops.RemoveRange),
    ),
    Mutant(
        Rule.METRICS_1,
        "usage of a cache answers the bytes of all.",
        _op(wrong.usage_with_all_bytes, ops.Usage),
    ),
    Mutant(
        Rule.METRICS_2,
        "usage of all caches counts the slots of the queue, dead ones too.",
        _op(wrong.usage_counting_slots, ops.Usage),
    ),
    Mutant(
        Rule.LIVENESS_1,
        "The access mark outlives every other requeue.",
        _in(passes, "requeued", wrong_passes.requeued_mark_stays_once),
    ),
    Mutant(Rule.LIVENESS_2, "advance answers the time.", _op(wrong.advance_answering_time, ops.Advance)),
)
"""One mutant a MUST, in the order of the families."""

OTHERS: Final[tuple[Mutant, ...]] = (
    Mutant(
        Rule.REQUEUE_4,
        "A requeued entry keeps its stamp.",
        _in(passes, "requeued", wrong_passes.requeued_keeping_the_stamp),
    ),
    Mutant(Rule.EVICT_8, "A requeued entry stays at the head.", _in(passes, "put_back", wrong_passes.put_back_first)),
    Mutant(Rule.EXPIRE_3, "The default age is twice the TTL.", _in(passes, "cutoff", wrong_passes.cutoff_twice)),
)
"""Other ways to break a rule; a failure that answers like one of them is explained by its rule."""

REACHABLE: Final = tuple(
    facts
    for facts in (Facts(*values) for values in product((False, True), repeat=5))
    if not facts.gone or not any(facts[2:])
)
"""The facts that a pass can meet: a dead slot is neither touched nor expected nor spare."""


def flips() -> tuple[Mutant, ...]:
    """The table with one cell changed, for every cell: a fixed one to its contrary, ANY to a fixed value.

    A fact that is left without a line is decided otherwise than the table says. A change that no pass can see is
    left out; a requeue that goes on for ever raises.
    """
    norm = lookup(DECISION)
    found: list[Mutant] = []
    for at, line in enumerate(DECISION):
        for column, cell in enumerate(line.cells):
            for value in (False, True) if cell is ANY else (not cell,):
                table = lookup((*DECISION[:at], _with(line, column, value), *DECISION[at + 1 :]))
                for facts in norm.keys() - table.keys():
                    table[facts] = line._replace(action=_another(norm[facts].action))
                if any(table[facts].action is not norm[facts].action for facts in REACHABLE):
                    found.append(_flip(line, Facts._fields[column], value, table))
                    break
    return tuple(found)


def _another(action: Action) -> Action:
    return Action.STOP if action in {Action.REMOVE, Action.MISSING} else Action.REMOVE


def _with(line: Line, column: int, value: bool) -> Line:
    cells = list(line.cells)
    cells[column] = value
    gone, halt, touched, expected, spare = cells
    return line._replace(cells=(gone, halt, touched, expected, spare))


def _flip(line: Line, column: str, value: bool, table: dict[Facts, Line]) -> Mutant:
    patches: tuple[tuple[ModuleType, str, object], ...] = (
        (decision, "LOOKUP", table),
        (passes, "requeued", wrong_passes.requeued_at_most_64_times),
    )
    return Mutant(line.rule, f"{line.rule.name}: {column} = {value}", patches)
