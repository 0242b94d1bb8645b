"""The two tiers of an audit in SQL: witnesses in one aggregate, windows only where those prove nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from entrycache_protocol.stopped import keeping
from entrycache_spark.engines.base import SqlEngine
from entrycache_spark.rulefiles import RuleFile
from entrycache_spark.survey import Broker, survey
from entrycache_spark.systems import parts_of
from entrycache_spark.verdict import Findings, RuleFinding, Violation, in_order
from entrycache_spark.windows import TOLD_MOST, Windows, told
from entrycache_trace.files import Metadata

Progress = Callable[[str], None]

UNTOLD: Final = "what its rows do not tell"
"""In place of a text that is null: it was to name a value that no row has."""


def evaluate(
    engine: SqlEngine,
    metadata: Metadata,
    rules: Sequence[RuleFile],
    progress: Progress = lambda text: None,
    witnesses: bool = True,
) -> Findings:
    """Both tiers. Without `witnesses` the windows decide everything.

    Raises:
        Stopped: the second tier was; with what was found of the rules that were decided.
    """
    progress("witnesses")
    brokers = survey(engine, metadata, rules)
    if witnesses:
        doubt(engine, brokers, rules)
    if witnesses and any(rule.settled is not None for rule in rules):
        progress("grounds")
        Windows(engine, brokers, metadata).settle([rule for rule in rules if rule.settled is not None])
    if not witnesses:
        for broker in brokers:
            broker.proved.clear()
    return decide(engine, brokers, metadata, rules, progress)


def unproved_in(brokers: Sequence[Broker], metadata: Metadata, rules: Sequence[RuleFile]) -> dict[str, list[Broker]]:
    """The brokers of which a rule is neither proved nor without anything to say: its window has to look at them.

    Each broker by itself, so that it is all one which others are looked at with it.
    """
    chain = parts_of(metadata.system).chain
    return {
        rule.id: [
            broker
            for broker in brokers
            if (broker.checked[rule.id] or rule.id == chain)
            and rule.id not in broker.unasked
            and not broker.proved.get(rule.id, False)
        ]
        for rule in rules
    }


def decide(
    engine: SqlEngine,
    brokers: Sequence[Broker],
    metadata: Metadata,
    rules: Sequence[RuleFile],
    progress: Progress = lambda text: None,
) -> Findings:
    """The second tier, over the brokers of which something is not proved.

    Raises:
        Stopped: see `evaluate`.
    """
    windows = Windows(engine, brokers, metadata)
    unproved = unproved_in(brokers, metadata, rules)
    left = [rule for rule in rules if unproved[rule.id]]
    found = Found(rules, brokers, unproved, metadata)
    waits = {rule.id: {rule.window, *(condition.view for condition in rule.conditions)} - {None} for rule in left}
    with keeping(lambda: found.of([rule for rule in rules if not waits.get(rule.id)])):
        for rule in left:
            if rule.window is not None:
                progress(f"{rule.id}: windows over {len(unproved[rule.id])} of {len(brokers)} brokers")
                windows.open(unproved[rule.id])
                answered, whole = told(engine, rule.window, "sure desc, broker, seq")
                found.add([rule], [(rule.id, row) for row in answered], whole)
                waits[rule.id].discard(rule.window)
        for view in sorted({condition.view for rule in left for condition in rule.conditions}):
            over = [(rule, condition) for rule in left for condition in rule.conditions if condition.view == view]
            names = {broker.name for rule, _ in over for broker in unproved[rule.id]}
            progress(f"{view}: {len(over)} conditions over {len(names)} of {len(brokers)} brokers")
            windows.open([broker for broker in brokers if broker.name in names])
            found.add([rule for rule, _ in over], *windows.over(view, over))
            for rule, _ in over:
                waits[rule.id].discard(view)
    return found.of(rules)


def doubt(engine: SqlEngine, brokers: Sequence[Broker], rules: Sequence[RuleFile]) -> None:
    """Take back what balanced sums have proved of brokers where what they cannot show is otherwise."""
    for query in dict.fromkeys(rule.unless for rule in rules if rule.unless is not None):
        own = [rule for rule in rules if rule.unless == query]
        if any(broker.proved[rule.id] and broker.checked[rule.id] for broker in brokers for rule in own):
            doubtful = {name for (name,) in engine.rows(f"select distinct broker from (\n{query}\n) as doubtful")}
            for broker in brokers:
                if broker.name in doubtful:
                    broker.proved.update(dict.fromkeys((rule.id for rule in own), False))


class Found:
    """What the windows tell, by broker and rule, and what keeps a clean answer from being one."""

    def __init__(
        self,
        rules: Sequence[RuleFile],
        brokers: Sequence[Broker],
        unproved: Mapping[str, Sequence[Broker]],
        metadata: Metadata,
    ) -> None:
        self._brokers = brokers
        self._open = {rule.id: {broker.name for broker in unproved[rule.id]} for rule in rules}
        self._violations: defaultdict[tuple[str, str], list[Violation]] = defaultdict(list)
        self._cut: defaultdict[str, list[str]] = defaultdict(list)
        self._undecided: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        self._missing = {broker.name: missing(broker, metadata) for broker in brokers}

    def add(self, asked: Sequence[RuleFile], rows: Sequence[tuple[str, tuple[Any, ...]]], whole: bool) -> None:
        """The rows that a question about these rules was answered with; `whole`: there are no more."""
        for rule in () if whole else asked:
            self._cut[rule.id].append(f"{rule.id}: more than {TOLD_MOST} rows tell of violations; these are the first")
        for rule_id, (broker, seq, life, *texts, seqs, sure) in rows:
            if broker not in self._open[rule_id]:
                continue
            expected, observed = (UNTOLD if text is None else text for text in texts)
            if sure:
                violation = Violation(rule_id, broker, seq, life, expected, observed, tuple(seqs))
                self._violations[broker, rule_id].append(violation)
            else:
                self._undecided[broker, rule_id].append(f"{rule_id}: broker {broker!r}, seq {seq}: {observed}")

    def of(self, rules: Sequence[RuleFile]) -> Findings:
        """What was found of these rules."""
        return {broker.name: {rule.id: self._finding(broker, rule.id) for rule in rules} for broker in self._brokers}

    def _finding(self, broker: Broker, rule_id: str) -> RuleFinding:
        asked = broker.name in self._open[rule_id]
        return RuleFinding(
            broker.checked[rule_id],
            in_order(self._violations[broker.name, rule_id]),
            (
                *self._missing[broker.name],
                *(self._cut[rule_id] if asked else ()),
                *self._undecided[broker.name, rule_id],
            ),
            tuple(broker.unchecked.get(rule_id, ())),
        )


def missing(broker: Broker, metadata: Metadata) -> tuple[str, ...]:
    """Why nothing of this broker is clean, one line each."""
    notes = [broker.undecided()]
    if metadata.sampled:
        notes.append("the trace is sampled")
    if parts_of(metadata.system).begins_empty and broker.opened:
        notes.append(f"broker {broker.name!r}: it begins with entries cached before")
    return tuple(note for note in notes if note is not None)
