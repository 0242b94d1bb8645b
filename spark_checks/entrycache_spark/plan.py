"""An audit in SQL: the facts about each broker, then the window of each rule.

`evaluate_in_sql` asks `survey` which events each rule applies to. `run_windows` then evaluates the window of each rule,
and the conditions over shared views, for these brokers. `Windows` defines the views, and `WindowFindings` collects
their rows as findings.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from entrycache_protocol.errors import keep_partial_result
from entrycache_spark.common import results, rule_files, system, unknown_values
from entrycache_spark.survey import BrokerFacts, survey_brokers
from entrycache_trace.files import Metadata

Progress = Callable[[str], None]

NULL_TEXT: Final = "value that no row records"
"""The text for a null in a violation's description, where a row lacks the value to name."""


def evaluate_in_sql(
    backend: rule_files.SqlBackend,
    metadata: Metadata,
    rules: Sequence[rule_files.RuleFile],
    progress: Progress = lambda text: None,
) -> results.Findings:
    """Evaluate the rules.

    Raises:
        Interrupted: the windows were interrupted. It carries the findings of the rules decided by then.
    """
    progress("survey")
    return run_windows(backend, survey_brokers(backend, metadata, rules), metadata, rules, progress)


def unproved_brokers(
    brokers: Sequence[BrokerFacts], metadata: Metadata, rules: Sequence[rule_files.RuleFile]
) -> dict[str, list[BrokerFacts]]:
    """Return, by rule, the brokers that its window must read: the rule applies to them and is not proved.

    Each broker is judged on its own, so it does not matter which others are read with it.
    """
    chain = system.audited_system(metadata.system).chain
    return {
        rule.id: [
            broker
            for broker in brokers
            if (broker.checked[rule.id] or rule.id == chain)
            and rule.id not in broker.inapplicable
            and rule.id not in broker.proved
        ]
        for rule in rules
    }


def run_windows(
    backend: rule_files.SqlBackend,
    brokers: Sequence[BrokerFacts],
    metadata: Metadata,
    rules: Sequence[rule_files.RuleFile],
    progress: Progress = lambda text: None,
) -> results.Findings:
    """Run the windows over the brokers for which a rule is not proved.

    Raises:
        Interrupted: see `evaluate_in_sql`.
    """

    def proved_findings(decided: Sequence[rule_files.RuleFile]) -> results.Findings:
        rows = unknown_values.RowsInSql(backend, metadata.system)
        proved = unknown_values.withdraw_violations(findings.findings_for(decided), metadata, rows)
        incomplete = [broker.name for broker in brokers if broker.incomplete]
        counts = rows.counts(incomplete) if incomplete else {}
        return {
            name: unknown_values.doubt_clean_rules(own, name, counts[name], metadata) if name in counts else own
            for name, own in proved.items()
        }

    windows = Windows(backend, brokers, metadata)
    unproved = unproved_brokers(brokers, metadata, rules)
    unproved_rules = [rule for rule in rules if unproved[rule.id]]
    findings = WindowFindings(rules, brokers, unproved, metadata)
    pending = {
        rule.id: {rule.window, *(condition.view for condition in rule.conditions)} - {None} for rule in unproved_rules
    }
    with keep_partial_result(lambda: proved_findings([rule for rule in rules if not pending.get(rule.id)])):
        for rule in unproved_rules:
            if rule.window is not None:
                progress(f"{rule.id}: windows over {len(unproved[rule.id])} of {len(brokers)} brokers")
                windows.open(unproved[rule.id])
                rows, whole = first_rows(backend, rule.window, "sure desc, broker, seq")
                findings.add([rule], [(rule.id, row) for row in rows], whole)
                pending[rule.id].discard(rule.window)
        for view in sorted({condition.view for rule in unproved_rules for condition in rule.conditions}):
            over = [
                (rule, condition) for rule in unproved_rules for condition in rule.conditions if condition.view == view
            ]
            names = {broker.name for rule, _ in over for broker in unproved[rule.id]}
            progress(f"{view}: {len(over)} conditions over {len(names)} of {len(brokers)} brokers")
            windows.open([broker for broker in brokers if broker.name in names])
            findings.add([rule for rule, _ in over], *windows.over(view, over))
            for rule, _ in over:
                pending[rule.id].discard(view)
    return proved_findings(rules)


class WindowFindings:
    """The findings of the windows by broker and rule, with the reasons why a clean answer may not be given."""

    def __init__(
        self,
        rules: Sequence[rule_files.RuleFile],
        brokers: Sequence[BrokerFacts],
        unproved: Mapping[str, Sequence[BrokerFacts]],
        metadata: Metadata,
    ) -> None:
        self._brokers = brokers
        self._open = {rule.id: {broker.name for broker in unproved[rule.id]} for rule in rules}
        self._violations: defaultdict[tuple[str, str], list[results.Violation]] = defaultdict(list)
        self._cut: defaultdict[str, list[str]] = defaultdict(list)
        self._undecided: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        self._missing = {broker.name: incompleteness_notes(broker, metadata) for broker in brokers}

    def add(
        self, rules: Sequence[rule_files.RuleFile], rows: Sequence[tuple[str, tuple[Any, ...]]], whole: bool
    ) -> None:
        """Add the rows that a query about these rules returned; `whole` is False if there are more."""
        for rule in () if whole else rules:
            self._cut[rule.id].append(f"{rule.id}: more than {MAX_REPORTED} rows violate it; these are the first")
        for rule_id, (broker, seq, life, *texts, seqs, sure) in rows:
            if broker not in self._open[rule_id]:
                continue
            expected, observed = (NULL_TEXT if text is None else text for text in texts)
            if sure:
                violation = results.Violation(rule_id, broker, seq, life, expected, observed, tuple(seqs))
                self._violations[broker, rule_id].append(violation)
            else:
                self._undecided[broker, rule_id].append(f"{rule_id}: broker {broker!r}, seq {seq}: {observed}")

    def findings_for(self, rules: Sequence[rule_files.RuleFile]) -> results.Findings:
        """Return the findings of these rules."""
        return {broker.name: {rule.id: self._finding(broker, rule.id) for rule in rules} for broker in self._brokers}

    def _finding(self, broker: BrokerFacts, rule_id: str) -> results.RuleFinding:
        unproved = broker.name in self._open[rule_id]
        return results.RuleFinding(
            broker.checked[rule_id],
            results.sort_violations(self._violations[broker.name, rule_id]),
            (
                *self._missing[broker.name],
                *(self._cut[rule_id] if unproved else ()),
                *self._undecided[broker.name, rule_id],
                *broker.inconclusive.get(rule_id, ()),
            ),
            tuple(broker.unchecked.get(rule_id, ())),
        )


def incompleteness_notes(broker: BrokerFacts, metadata: Metadata) -> tuple[str, ...]:
    """Return the reasons why nothing of this broker is clean, one line each."""
    notes = [broker.undecided()]
    if metadata.sampled:
        notes.append("the trace is sampled")
    if system.audited_system(metadata.system).begins_empty and broker.opened:
        notes.append(f"broker {broker.name!r}: it begins with entries cached before")
    return tuple(note for note in notes if note is not None)


# ---------- windows

MAX_REPORTED: Final = 100_000
"""The maximum number of rows of one query that are reported, in the order of brokers and events."""

_BROKER_COLUMNS: Final = {
    "broker": "string",
    "starts": "boolean",
    "gapped": "boolean",
    "first_island": "bigint",
    "numbered": "boolean",
    "unlinked": "boolean",
    "open_bytes": "bigint",
    "first_seq": "bigint",
    "fresh": "boolean",
    "complete": "boolean",
}
"""The columns of `brokers`. `fresh`: the trace begins with an empty cache. `complete`: it also ends and has no gap."""


def first_rows(backend: rule_files.SqlBackend, query: str, order: str) -> tuple[list[tuple[Any, ...]], bool]:
    """Return the first rows of a query, and whether these are all; a trace may violate a rule in every event."""
    rows = backend.rows(f"select * from (\n{query}\n) as violations order by {order} limit {MAX_REPORTED + 1}")
    return rows[:MAX_REPORTED], len(rows) <= MAX_REPORTED


class Windows:
    """The windows over some brokers at a time; the view `events` holds their rows."""

    def __init__(self, backend: rule_files.SqlBackend, brokers: Sequence[BrokerFacts], metadata: Metadata) -> None:
        self._backend = backend
        self._system = metadata.system
        self._brokers = brokers
        self._gap = metadata.sampled or any(broker.gapped for broker in brokers)
        island = "seq - row_number() over (partition by broker order by seq)" if self._gap else "cast(0 as bigint)"
        # Of a sampled trace no two rows are known to follow one another.
        self._island = "seq - 1" if metadata.sampled else island
        self._opened: tuple[str, ...] | None = None

    def open(self, brokers: Sequence[BrokerFacts]) -> None:
        """Let `brokers` and `events` stand for these brokers."""
        names = tuple(broker.name for broker in brokers)
        if names == self._opened:
            return
        self._opened = names
        self._backend.table("brokers", _BROKER_COLUMNS, [broker.row(self._gap) for broker in brokers])
        self._backend.define(
            "events",
            f"select *, {self._island} as island from marked where broker in (select broker from brokers)",
        )

    def _define(self, view: str) -> None:
        """Define `over_VIEW` for a view, and for the views that it uses."""
        joined = ", ".join(f"b.{name}" for name in _BROKER_COLUMNS if name != "broker")
        text = f"select e.*, {joined} from events e join brokers b on e.broker = b.broker"
        query = text if view == rule_files.EVENTS_VIEW else rule_files.shared_view(self._system, view)
        for other in rule_files.referenced_views(query):
            self._define(other)
        self._backend.define(f"over_{view}", query)

    def over(
        self, view: str, conditions: Sequence[tuple[rule_files.RuleFile, rule_files.Condition]]
    ) -> tuple[list[tuple[str, tuple[Any, ...]]], bool]:
        """Return the rows of a shared view that fulfil a condition, each with the violated rule.

        One scan decides all conditions; see `first_rows` for the flag.
        """
        self._define(view)
        columns = ["broker", "seq"]
        for number, (_, own) in enumerate(conditions):
            columns.append(f"coalesce({own.fails}, false) as fails_{number}")
            for name in ("life", "expected", "observed", "seqs", "sure"):
                columns.append(f"case when {own.fails} then {getattr(own, name)} end as {name}_{number}")
        where = " or ".join(f"({own.fails})" for _, own in conditions)
        violations = []
        query = f"select {', '.join(columns)} from over_{view} where {where}"
        rows, whole = first_rows(self._backend, query, "broker, seq")
        for broker, seq, *parts in rows:
            for number, (rule, _) in enumerate(conditions):
                fails, *described = parts[6 * number : 6 * number + 6]
                if fails:
                    violations.append((rule.id, (broker, seq, *described)))
        return violations, whole
