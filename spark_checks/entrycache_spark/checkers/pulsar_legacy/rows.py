"""The vocabulary of the `pulsar-legacy` checker, and the rules of single rows and of offers.

Loops of this system flag the rules of `OWN` by number; `SAME` maps the other rules to flags of `pulsar-pip430`. An
offer is compared with the bytes at its beginning, and with its own pass (L-INSERT-3 and 4, L-TRIGGER-2, 4, 5 and 7).
"""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from entrycache_spark.checkers.primitives import NULL, flag, numbers_differ
from entrycache_spark.checkers.pulsar_pip430 import rows as w
from entrycache_spark.checkers.pulsar_pip430.rows import held_bytes, value_or_setting
from entrycache_trace.jit import Array, jit

OWN: Final = (
    *("L-EVICT-1", "L-EVICT-2", "L-EVICT-3", "L-EVICT-4", "L-EVICT-5", "L-EXPIRE-1", "L-EXPIRE-2"),
    *("L-INSERT-3", "L-INSERT-4", "L-READ-1", "L-READ-2", "L-READ-4", "L-READ-5", "L-READ-6", "L-STATE-3"),
    *("L-TRIGGER-1", "L-TRIGGER-2", "L-TRIGGER-4", "L-TRIGGER-5", "L-TRIGGER-6", "L-TRIGGER-7"),
)
"""The rules that loops of this system decide; the number of a rule is its index here."""

EVICT_1, EVICT_2, EVICT_3, EVICT_4, EVICT_5, EXPIRE_1, EXPIRE_2 = range(7)
INSERT_3, INSERT_4, READ_1, READ_2, READ_4, READ_5, READ_6, STATE_3 = range(7, 15)
TRIGGER_1, TRIGGER_2, TRIGGER_4, TRIGGER_5, TRIGGER_6, TRIGGER_7 = range(15, 21)

SAME: Final[Mapping[str, tuple[int, ...]]] = {
    "L-INSERT-1": (w.INSERT_1,),
    "L-INSERT-2": (w.INSERT_2,),
    "L-INSERT-5": (w.INSERT_1,),
    "L-INVALIDATE-1": (w.INVALIDATE_1,),
    "L-INVALIDATE-2": (w.INVALIDATE_4,),
    "L-INVALIDATE-3": (w.INVALIDATE_7,),
    "L-INVALIDATE-4": (w.INVALIDATE_8,),
    "L-INVALIDATE-5": (w.INVALIDATE_9,),
    "L-LIVENESS-1": (w.STATE_4, w.STATE_8),
    "L-STATE-1": (w.STATE_1,),
    "L-STATE-2": (w.STATE_6,),
    "L-STATE-4": (w.STATE_2,),
    "L-TRIGGER-1": (w.TRIGGER_1,),
    "L-TRIGGER-3": (w.TRIGGER_4,),
    **dict.fromkeys(("L-EVICT-1", "L-EXPIRE-2", "L-READ-2"), (w.INVALIDATE_1,)),
}
"""The rules of `pulsar-pip430` that must be clean, too.

L-INSERT-5 rejects what is not cached. The last three need R-INVALIDATE-1, which is flagged where the order of the
entries is not known.
"""

RULES: Final = tuple(sorted({*OWN, *SAME}))
"""The rules that the checker decides."""

# The columns of a table of settings: those of `SETTING_COLUMNS` in their order, and the limit.
TRIGGER_NOW, TARGET_NOW, MANUAL, LIMIT_NOW = range(4)

THERE: Final = (w.TRIGGER_NOW, w.TARGET_NOW, w.MANUAL)
"""The columns of the first three settings in the table of `pulsar-pip430`, which has further columns between them."""


# ---------- rules that one row decides


@jit
def check_own_rows(c: Any, settings: Any, flags: Any) -> None:
    """Check L-STATE-3, L-TRIGGER-6, and the amount of L-TRIGGER-1."""
    for i in range(len(c.seq)):
        op, cause, origin, bound = c.op[i], c.cause[i], c.origin[i], c.bound[i]
        if op == w.INSERT:
            if c.size_bytes[i] != NULL and c.size_bytes[i] < 0:
                flag(flags, STATE_3, c.seq[i])
        elif op == w.PASS_BEGIN and bound != NULL:
            if origin == w.OF_CALL and (
                bound <= 0 if cause == w.BY_SIZE else cause == w.BY_TIME and bound > c.ts_ns[i]
            ):
                flag(flags, STATE_3, c.seq[i])
            elif origin == w.OF_TRIGGER and cause == w.BY_SIZE:
                now = settings[c.settings[i]]
                if bound <= 0:
                    flag(flags, TRIGGER_6, c.seq[i])
                target = value_or_setting(c.target_bytes[i], now[TARGET_NOW])
                held = held_bytes(c.manager_bytes[i], c.bytes_after[i])
                if now[MANUAL] == 0 and target != NULL and numbers_differ(bound, held - target):
                    flag(flags, TRIGGER_1, c.seq[i])


# ---------- offers

HELD_BEFORE, ENDED_CALL, WAITS_SEQ, BEGUN_HELD, FIRST_AMOUNT, LAST_AMOUNT = range(6)
"""The fields of the state, all `NULL` at first.

They hold the bytes after the event before, the call whose pass ended there, that event if an offer must follow, the
bytes at the last begin of such a pass, and the first and last amount requested since.
"""


def new_offers() -> Array:
    """Return the initial state."""
    return np.full(6, NULL)


@jit
def is_offer(op: int, cause: int) -> bool:
    """Return whether an event records the outcome of an offer."""
    return op == w.INSERT or op == w.REJECT or (op == w.SKIP and (cause == w.BY_FULL or cause == w.BY_DISABLED))


@jit
def check_offers(c: Any, settings: Any, o: Any, flags: Any) -> None:
    """Check each offer against the pass of its own call, or else against the event before it."""
    for i in range(len(c.seq)):
        op, cause, call, seq = c.op[i], c.cause[i], c.call_id[i], c.seq[i]
        offers = is_offer(op, cause)
        behind = call != NULL and call == o[ENDED_CALL]
        if o[WAITS_SEQ] != NULL:
            if not (offers and behind):
                flag(flags, TRIGGER_2, o[WAITS_SEQ])
            o[WAITS_SEQ] = NULL
        held = held_bytes(c.manager_bytes[i], c.bytes_after[i])
        o[ENDED_CALL] = NULL
        if offers:
            held_at_offer = o[BEGUN_HELD] if behind else o[HELD_BEFORE]
            if held_at_offer != NULL:
                _offered(seq, op, cause, held_at_offer, behind, settings[c.settings[i]], o, flags)
        elif cause == w.BY_SIZE and c.origin[i] == w.OF_TRIGGER:
            if op == w.PASS_BEGIN:
                _check_pass_begin(seq, c.bound[i], held, c.trigger_bytes[i], settings[c.settings[i]], o, flags)
            elif op == w.PASS_END:
                o[ENDED_CALL] = call
                if settings[c.settings[i], MANUAL] == 0:
                    o[WAITS_SEQ] = seq
        o[HELD_BEFORE] = held


@jit
def _offered(seq: int, op: int, cause: int, held: int, behind: bool, now: Any, o: Any, flags: Any) -> None:
    limit, target = now[LIMIT_NOW], now[TARGET_NOW]
    if limit != NULL:
        if op == w.INSERT and held >= limit:
            flag(flags, INSERT_3, seq)
        elif op == w.SKIP and cause == w.BY_FULL and held < limit:
            flag(flags, INSERT_4, seq)
    if now[TRIGGER_NOW] == NULL or held <= now[TRIGGER_NOW] or target == NULL or held <= target:
        return
    if now[MANUAL] == 1:
        o[LAST_AMOUNT] = held - target
        if o[FIRST_AMOUNT] == NULL:
            o[FIRST_AMOUNT] = held - target
    elif now[MANUAL] == 0 and not behind:
        flag(flags, TRIGGER_2 if op == w.INSERT else TRIGGER_7, seq)


@jit
def _check_pass_begin(seq: int, bound: int, held: int, trigger_bytes: int, now: Any, o: Any, flags: Any) -> None:
    """Check the begin of a requested pass: one that runs at once, or a scheduled one."""
    trigger = value_or_setting(trigger_bytes, now[TRIGGER_NOW])
    if now[MANUAL] == 0 and trigger != NULL and held <= trigger:
        flag(flags, TRIGGER_2, seq)
    elif now[MANUAL] == 1:
        if o[FIRST_AMOUNT] == NULL:
            flag(flags, TRIGGER_5, seq)
        elif bound != NULL and bound != o[FIRST_AMOUNT]:
            flag(flags, TRIGGER_4 if bound == o[LAST_AMOUNT] else TRIGGER_5, seq)
    o[BEGUN_HELD] = held
    o[FIRST_AMOUNT] = o[LAST_AMOUNT] = NULL
