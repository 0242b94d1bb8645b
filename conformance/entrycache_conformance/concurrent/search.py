"""Looking for a history that breaks a promise, and for a short one."""

from __future__ import annotations

import dataclasses
import random
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from entrycache_conformance.concurrent.level import is_deadlock, is_proved, promises_of, rule_of
from entrycache_conformance.shrink import TRY_SECONDS, hurried, leave_out
from entrycache_protocol.history import History
from entrycache_protocol.subject import Failed, Happened, HistoryAnswer, Skipped, Trouble, UnderTest
from entrycache_reference.judged import Break
from entrycache_reference.rules import Rule

BATCH: Final = 20
"""Histories that are sent ahead."""

TRIES: Final = 100
"""How often a shorter history is played before it counts as one that does not fail."""

OFTEN: Final = 4
"""How often it has to fail in these: one failure alone would lead to ever rarer ones."""

RARER: Final = 4
"""A shorter history may fail so many times more rarely than the one that it comes from, and no rarer."""

SILENT_OFTEN: Final = 2
"""The same for one that gets no answer: each costs a process."""

TOLD_TRIES: Final = 200
"""How often the shortest history is played to tell how often it fails."""

TIMES_TOLD: Final = 20
"""Failures after which a history is not played once more, only to tell how often it fails."""

SILENT_TIMES_TOLD: Final = 3
"""The same for one that gets no answer: each costs a process."""

CANDIDATES: Final = 80
"""Shorter histories that are tried at most."""

SILENT_CANDIDATES: Final = 40
"""The same for one that gets no answer: each that still fails costs a time-out."""

SILENT_TRIES: Final = 10
"""How often a history without an answer is played again: a machine may have been busy, once."""


class Found(NamedTuple):
    """A history that breaks a promise: the rules, the likeliest first, and what shows it.

    `said` is it in words; `break_` the step, `failed` the silence, that shows it. It failed `times` of `tries` times.
    """

    history: History
    rules: tuple[Rule, ...]
    said: str
    break_: Break | None
    failed: Failed | None
    tries: int = 1
    times: int = 1


@dataclasses.dataclass(slots=True)
class Tally:
    """What was judged: histories, their steps and threads, and the rules that were asked.

    `ended`: one that ended and was judged; `is_late`: one did not, and did each time that it was played again.
    """

    histories: int = 0
    steps: int = 0
    threads: int = 0
    undecided: Counter[str] = dataclasses.field(default_factory=Counter)
    fired: Counter[Rule] = dataclasses.field(default_factory=Counter)
    skipped: list[Skipped] = dataclasses.field(default_factory=list)
    ended: tuple[History, Happened] | None = None
    is_late: bool = False


def search(
    subject: UnderTest, wanted: int, seed: int, tally: Tally, progress: Callable[[int], None] = lambda count: None
) -> Found | None:
    """Play that many histories, kind after kind; the first that breaks a promise, as short as it could be made."""
    promises = promises_of(subject.declaration.system)
    source = random.Random(seed)
    made = 0
    while made < wanted:
        size = min(BATCH, wanted - made)
        histories = [
            promises.make(source.randint, subject.declaration, promises.kinds[(made + index) % len(promises.kinds)])
            for index in range(size)
        ]
        made += size
        for history, answer in zip(histories, subject.play_histories(histories), strict=True):
            found = judge(subject, history, answer, tally)
            if found is None:
                continue
            if found.failed is None or is_proved(found.failed) or _again(subject, found):
                return shrink(subject, found)
            # A busy machine makes a subject late once; it ends no process, and it is not late twice.
            if found.failed.trouble is not Trouble.HANG or tally.is_late:
                return found._replace(tries=1 + SILENT_TRIES)
            tally.is_late = True
        progress(size)
    return None


def judge(subject: UnderTest, history: History, answer: HistoryAnswer, tally: Tally) -> Found | None:
    """What an answer breaks, if anything."""
    promises = promises_of(history.system)
    if isinstance(answer, Skipped):
        tally.skipped.append(answer)
        return None
    tally.histories += 1
    tally.steps += len(history.steps)
    tally.threads += len(history.clients)
    if isinstance(answer, Failed):
        return Found(history, (rule_of(promises, answer),), answer.message, None, answer)
    judged = promises.judge(history, answer, subject.declaration)
    tally.ended = (history, answer) if judged.fired else tally.ended
    tally.fired.update(judged.fired)
    if judged.undecided:
        tally.undecided[judged.undecided] += 1
    if not judged.broken:
        return None
    rules = tuple(rule for rule, _ in judged.broken)
    broken = judged.broken[0][1]
    return Found(with_events(history, answer), rules, broken.said, broken, None)


def with_events(history: History, happened: Happened) -> History:
    """The history with what was answered, as its file tells it."""
    events = [
        {**event._asdict(), "outcome": history.system.wire.write_outcome(event.outcome)} for event in happened.events
    ]
    return dataclasses.replace(history, events=tuple(events))


def _again(subject: UnderTest, found: Found) -> bool:
    """Whether a history without an answer stays without one when it is played again."""
    with hurried(subject, TRY_SECONDS):
        return fails(subject, found.history, found, SILENT_TRIES, 1) is not None


def fails(subject: UnderTest, history: History, like: Found, tries: int, often: int) -> Found | None:
    """The last failure like that one, if there are so many in so many tries."""
    done = times = 0
    size = 1
    while done < tries:
        size = min(size, tries - done)
        for answer in subject.play_histories([history] * size):
            done += 1
            found = judge(subject, history, answer, Tally())
            if found is not None and _is_alike(found, like):
                times += 1
                if times >= often:
                    return found._replace(tries=done, times=times)
        size = min(4 * size, BATCH)
    return None


def _is_alike(found: Found, like: Found) -> bool:
    """Whether two failures break the same rule in the same way: a deadlock is not an eviction without an end."""
    if like.rules[0] not in found.rules:
        return False
    if found.failed is None or like.failed is None:
        return found.failed is like.failed
    return found.failed.trouble is like.failed.trouble and is_deadlock(found.failed) == is_deadlock(like.failed)


def shrink(subject: UnderTest, found: Found) -> Found:
    """The shortest history found that fails in the same way, and how often it does."""
    promises = promises_of(found.history.system)
    left = CANDIDATES if found.failed is None or is_proved(found.failed) else SILENT_CANDIDATES
    shortest = found
    often = OFTEN if found.failed is None else SILENT_OFTEN if is_proved(found.failed) else 1

    def try_(history: History) -> bool:
        nonlocal left, shortest
        if left <= 0 or not history.clients or not promises.is_sound(history):
            return False
        left -= 1
        again = fails(subject, history, found, tries_for(shortest, often), often)
        if again is not None:
            shortest = again
        return again is not None

    with hurried(subject, TRY_SECONDS):
        if found.failed is None:
            shortest = fails(subject, found.history, found, TRIES, often) or found._replace(tries=TRIES)
        for client in reversed(range(len(found.history.clients))):
            try_(_without_client(shortest.history, client))
        history = shortest.history
        leave_out(_numbered(history), lambda steps: steps if try_(_of_steps(history, steps)) else None)
        for listening in range(len(shortest.history.before)):
            _calmer(shortest.history, listening, try_)
        return _told(subject, shortest)


def tries_for(found: Found, often: int) -> int:
    """How often a shorter history than that one is played to see it fail so often."""
    return min(TRIES, RARER * often * found.tries // found.times)


def _without_client(history: History, client: int) -> History:
    clients = history.clients
    return dataclasses.replace(history, clients=clients[:client] + clients[client + 1 :], events=())


def _numbered(history: History) -> list[tuple[int, Any]]:
    """Every step with the client that does it."""
    return [(client, step) for client, steps in history.parts() for step in steps]


def _of_steps(history: History, kept: Sequence[tuple[int, Any]]) -> History:
    """The history of these steps alone; a client without steps goes too."""
    parts = [tuple(step for of, step in kept if of == client) for client, _ in history.parts()]
    before, *clients, after = parts
    return dataclasses.replace(
        history, before=before, clients=tuple(steps for steps in clients if steps), after=after, events=()
    )


def _calmer(history: History, at: int, try_: Callable[[History], bool]) -> None:
    """Leave out steps of a listener that is set before the threads."""
    listen = history.before[at]
    steps = getattr(listen, "on_flush", ())

    def fails(kept: tuple[Any, ...]) -> tuple[Any, ...] | None:
        before = (*history.before[:at], dataclasses.replace(listen, on_flush=kept), *history.before[at + 1 :])
        return kept if try_(dataclasses.replace(history, before=before, events=())) else None

    leave_out(steps if isinstance(steps, tuple) else (), fails)


def _told(subject: UnderTest, found: Found) -> Found:
    """The failure with how often it comes."""
    most = TIMES_TOLD if found.failed is None else SILENT_TIMES_TOLD
    tries = times = 0
    last = found
    while times < most and tries < TOLD_TRIES:
        again = fails(subject, found.history, found, TOLD_TRIES - tries, 1)
        tries += TOLD_TRIES - tries if again is None else again.tries
        if again is not None:
            times += 1
            last = again
    return last._replace(tries=tries + found.tries, times=times + found.times)
