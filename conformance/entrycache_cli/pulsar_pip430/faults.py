"""The planted faults of `pulsar-pip430` on the page of faults."""

from __future__ import annotations

from typing import Final

from entrycache_cli.parts import FaultsPart
from entrycache_dev.changed_jars import PULSAR_PIP430_CHANGES
from entrycache_faults.fast import pulsar_pip430 as fast
from entrycache_faults.reference.pulsar_pip430 import subjects
from entrycache_protocol.case import Case
from entrycache_reference.pulsar_pip430.ops import LEVELS


def level_of(case: Case) -> str:
    """The level that a case needs: that of its latest operation, `manager` at least where it crosses the trigger."""
    inserted = sum(op.size for op in case.steps if type(op).name == "insert")
    crosses = 0 < int(case.config.max_size_bytes * 0.98) < inserted
    return LEVELS[max(LEVELS.index("manager") if crosses else 0, *(LEVELS.index(type(op).level) for op in case.steps))]


FAULTS: Final = FaultsPart(
    groups={
        "Pulsar, levels range and queue": ((*subjects.QUEUE, *fast.QUEUE), None),
        "Pulsar, level manager": ((*subjects.MANAGER, *fast.MANAGER), "manager"),
        "Pulsar, level reads": ((*subjects.READS, *fast.READS), "reads"),
        "Pulsar, level cursors": ((*subjects.CURSORS, *fast.CURSORS), "cursors"),
    },
    level_of=level_of,
    changed="the released Pulsar 4.2.4 with one changed instruction each",
    changes=PULSAR_PIP430_CHANGES,
)
