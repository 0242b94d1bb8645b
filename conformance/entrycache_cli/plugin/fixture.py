"""The fixture: a class of an author, judged where the test runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from entrycache_cli.plugin.running import seed_of
from entrycache_protocol import check
from entrycache_protocol.author import Subject


class Checks(NamedTuple):
    """What the command line of pytest says of checks: the seed, and the folder for case files; empty: 0, and none."""

    seed: str
    failures: str

    def __call__(self, subject: type[Subject], levels: Sequence[str] | None = None, examples: int = 400) -> None:
        """See `entrycache_protocol.check`.

        Raises:
            AssertionError: it breaks a rule, or nothing was checked.
            EntrycacheError: the class is no subject.
        """
        __tracebackhide__ = True
        check(subject, levels, examples, seed=seed_of(self.seed), failures=self.failures or None)
