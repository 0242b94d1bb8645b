"""What the processes of a subject have played: a failure may need what an earlier run has left behind."""

from __future__ import annotations

from collections import deque
from typing import Final

from entrycache_protocol.case import Case

RUNS_KEPT: Final = 4_000
"""So many runs are remembered, the last ones."""


class Lives:
    """The last runs, in the order in which they were played, each with the number of its process."""

    def __init__(self) -> None:
        self._life = 0
        self._runs: deque[tuple[int, Case]] = deque(maxlen=RUNS_KEPT)

    def begin(self) -> None:
        """Another process plays from here on."""
        self._life += 1

    def played(self, case: Case) -> None:
        """A run was handed to the process."""
        self._runs.append((self._life, case))

    def before(self, case: Case) -> tuple[Case, ...]:
        """The runs that the process of this very run had played before; none where it is not remembered."""
        runs = list(self._runs)
        at = next((index for index in reversed(range(len(runs))) if runs[index][1] is case), 0)
        return tuple(run for life, run in runs[:at] if life == runs[at][0])
