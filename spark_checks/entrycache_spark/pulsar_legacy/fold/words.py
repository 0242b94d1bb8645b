"""What the loops flag: own rules by their numbers, and those of `pulsar-pip430` that say the same as others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from entrycache_spark.pulsar_pip430.fold import words as w

OWN: Final = (
    *("L-EVICT-1", "L-EVICT-2", "L-EVICT-3", "L-EVICT-4", "L-EVICT-5", "L-EXPIRE-1", "L-EXPIRE-2"),
    *("L-INSERT-3", "L-INSERT-4", "L-READ-1", "L-READ-2", "L-READ-4", "L-READ-5", "L-READ-6", "L-STATE-3"),
    *("L-TRIGGER-1", "L-TRIGGER-2", "L-TRIGGER-4", "L-TRIGGER-5", "L-TRIGGER-6", "L-TRIGGER-7"),
)
"""The rules that loops of its own decide; a rule's number is its place here."""

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
"""What has to be clean there, too: for L-INSERT-5, which rejects what is not cached; and for the last three, since
R-INVALIDATE-1 is left open where the order of the entries is not known."""

RULES: Final = tuple(sorted({*OWN, *SAME}))
"""The rules that the fold decides."""

# The columns of a table of settings: those of `SETTING_COLUMNS` in their order, and the limit.
TRIGGER_NOW, TARGET_NOW, MANUAL, LIMIT_NOW = range(4)

THERE: Final = (w.TRIGGER_NOW, w.TARGET_NOW, w.MANUAL)
"""Where the first three stand in the table of `pulsar-pip430`, which has columns of other settings between."""
