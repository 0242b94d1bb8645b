"""The rule that a difference breaks.

The failing case is played once more with a look at every namespace after every step, where the subject allows it.
What is written in it is measured alone, and its batches are played as single writes: a wrong size comes before all
else, then a batch. Then come the laws that the step at fault breaks with the subject's own outcome and state, and the
mutants of the reference that answer just as the subject did, to the last look, those first that say both. Where there
are none, the calls that were made too many or too few come, and what was seen inside one; then other planted faults
and the readings of releases that answer alike. Where nothing of this says anything, the first of these does: what a
look differs in; the rule of the reference's last row of the step; the rule of the operation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from entrycache_conformance.systems.kafka_streams.answers import answer_type, declared_part
from entrycache_conformance.systems.kafka_streams.evidence import inner_rule, is_right_one_by_one, measures_otherwise
from entrycache_conformance.systems.kafka_streams.probe import Probed, probe
from entrycache_conformance.systems.kafka_streams.step_rules import rule_of_step
from entrycache_conformance.systems.kafka_streams.weights import OF_VARIANTS
from entrycache_faults.mutants.mutant import Mutant, applied
from entrycache_faults.mutants.streams import STREAMS
from entrycache_faults.mutants.streams_other import OTHER_STREAMS
from entrycache_protocol.case import Case
from entrycache_protocol.codec import decode_object
from entrycache_protocol.errors import BrokenSubject, EntrycacheError
from entrycache_protocol.failure import Difference
from entrycache_protocol.subject import UnderTest
from entrycache_reference.kafka_streams.config import (
    DeleteRead,
    Delivery,
    FailedFlush,
    FlushedTombstone,
    Total,
    UndeliveredEviction,
)
from entrycache_reference.kafka_streams.outcomes import Call, Context, Failed, Forward, Handed, Outcome
from entrycache_reference.kafka_streams.state import Space, State
from entrycache_reference.rules import Rule

READINGS: Final = (
    ({"undelivered_eviction": UndeliveredEviction.LOST}, (Rule.K_FLUSH_3,)),
    ({"failed_flush": FailedFlush.CLEAN}, (Rule.K_FLUSH_3,)),
    ({"total": Total.RUNNING}, (Rule.K_METRICS_1, Rule.K_EVICT_3)),
    ({"flushed_tombstone": FlushedTombstone.ANY_WRITE}, (Rule.K_FLUSH_4,)),
    ({"delivery": Delivery.ONE_BY_ONE}, (Rule.K_STORE_1, Rule.K_STORE_4)),
    ({"delete_read": DeleteRead.CACHED}, (Rule.K_STORE_7,)),
)
"""The readings of releases, and the rules of the norm that each breaks."""

WRITES: Final = frozenset({"put", "put_all", "put_if_absent", "store_put", "store_get", "store_delete"})
"""Operations that write to the cache, and so evict where that brings it above its limit."""

GENERAL: Final = frozenset({Rule.K_PUT_1, Rule.K_PUT_6, Rule.K_RANGE_2, Rule.K_EVICT_6})
"""Rules of all writes and of all iterations, whose laws almost any difference breaks; others say more."""

LAST: Final = OF_VARIANTS | {Rule.K_LIVENESS_2}
"""Rules that come behind all others: those of readings, and that an answer is none of its operation's."""

BELOW: Final = {"store_get": Rule.K_STORE_6, "store_delete": Rule.K_STORE_7}
"""Operations that write what they have read, or in its place."""


def explain(subject: UnderTest, case: Case, steps: list[Any], difference: Difference) -> tuple[Rule, ...]:
    """The rules that explain a difference in an answer, the likeliest first."""
    try:
        probed = probe(subject, case, difference)
    except BrokenSubject:
        probed = None
    if probed is None:
        pre = steps[difference.at - 1].state if difference.at else case.system.model.initial(case.config)
        own = steps[difference.at].state
        probed = Probed(case, steps, difference, difference.at, pre, own)
    laws, alike = _laws(probed), _alike(STREAMS, subject, probed)
    general = [law for law in laws if law in GENERAL]
    said = [*_measured(subject, case), *_by_content(probed), *(law for law in laws if law in alike), *laws, *alike]
    found = [rule for rule in said if rule in alike or rule not in general]
    found = [rule for rule in found if rule not in LAST]
    if not found:
        found = [rule for rule in (_by_calls(probed),) if rule is not None]
    found += _alike(OTHER_STREAMS, subject, probed)
    found += [rule for reading, rules in READINGS if _reads_alike(reading, subject, probed) for rule in rules]
    found = found or general or [_by_look(probed) or rule_of_step(probed)]
    return tuple(dict.fromkeys([*found, *said]))


def _by_content(probed: Probed) -> list[Rule]:
    """Whether a write that answered rightly left too little or too much: the cache shows it, and what was counted."""
    own, right = probed.own, probed.steps[probed.at].state
    name = type(probed.case.steps[probed.at]).name
    if name not in WRITES - BELOW.keys() or probed.difference.at == probed.at:
        return []
    if isinstance(probed.steps[probed.at].outcome.answer, Failed):
        return [Rule.K_FLUSH_3] if any(_lost_its_eldest(own, space, ns) for ns, space in right.spaces.items()) else []
    left, wanted = (sum(len(space.recent) for space in state.spaces.values()) for state in (own, right))
    if left > wanted and own.evicts < right.evicts:
        return [Rule.K_EVICT_4]
    return [Rule.K_EVICT_5] if left < wanted and own.evicts > right.evicts else []


def _lost_its_eldest(own: State, space: Space, ns: str) -> bool:
    return bool(space.recent) and space.recent[-1] not in (own.spaces[ns].recent if ns in own.spaces else ())


def _measured(subject: UnderTest, case: Case) -> list[Rule]:
    """What other cases tell, made from this one: its writes alone, its batches as single writes."""
    try:
        sizes = [Rule.K_SIZE_1] if measures_otherwise(subject, case) else []
        return sizes or ([Rule.K_PUT_6] if is_right_one_by_one(subject, case) else [])
    except BrokenSubject:
        return []


def _laws(probed: Probed) -> list[Rule]:
    """The laws that the step at fault breaks with the subject's own outcome and state, as far as they are known."""
    case, at = probed.case, probed.at
    event = case.steps[at]
    done = probed.steps[at]
    try:
        if probed.difference.at == at:
            done = done._replace(outcome=typed(event, probed.difference.got))
        return list(case.system.laws.broken(case.config, probed.pre, event, done._replace(state=probed.own)))
    except EntrycacheError:
        raise
    except Exception:  # a law takes states and outcomes of the reference's making; others may be beyond it
        return []


def _by_calls(probed: Probed) -> Rule | None:
    """What the calls say in which the outcomes of the step at fault differ, or how many evictions were counted."""
    expected, got = probed.difference.expected, probed.difference.got
    name = type(probed.case.steps[probed.at]).name
    if probed.difference.at != probed.at:
        if name in BELOW and expected.get("puts") != got.get("puts"):
            return BELOW[name]
        more = got.get("evicts", 0) - expected.get("evicts", 0)
        return None if more == 0 else Rule.K_EVICT_5 if more > 0 else Rule.K_EVICT_4
    names = ("flushed", "forwarded")
    if all(expected.get(name) == got.get(name) for name in names):
        return None
    parts, wanted_parts = (
        [part for call in outcome.get("flushed", ()) for part in call["entries"]] for outcome in (got, expected)
    )
    if parts == wanted_parts and len(got.get("flushed", ())) != len(expected.get("flushed", ())):
        return Rule.K_FLUSH_1
    if parts != wanted_parts and [part[:2] for part in parts] == [part[:2] for part in wanted_parts]:
        return Rule.K_LISTEN_1
    within = inner_rule(probed.case, probed.at, expected, got)
    if within is not None:
        return within
    known = [(told["key"], told["value"]) for told in expected.get("forwarded", ())]
    more = [(told["key"], told["value"]) for told in got.get("forwarded", ())]
    if known and known != more and known == [told for told in more if told[1] is not None or told in known]:
        return Rule.K_STORE_3
    evicts = any(row.cause == "EVICT" for row in probed.steps[probed.at].rows)
    if name == "store_get":
        return Rule.K_STORE_6
    if name in WRITES:
        wanted, made = (sum(len(outcome.get(name, ())) for name in names) for outcome in (expected, got))
        if wanted != made:
            return Rule.K_EVICT_4 if made < wanted else Rule.K_EVICT_5
    return Rule.K_EVICT_3 if evicts else Rule.K_FLUSH_2


def _by_look(probed: Probed) -> Rule | None:
    """What the first look that differs says after a step in which entries were handed over."""
    expected, got = probed.difference.expected, probed.difference.got
    handed = any(row.op == "FLUSH" for row in probed.steps[probed.at].rows)
    if not handed or probed.difference.at == probed.at or "lru" not in expected or "lru" not in got:
        return None
    if isinstance(probed.steps[probed.at].outcome.answer, Failed):
        return Rule.K_FLUSH_3
    if set(expected["lru"]) != set(got["lru"]):
        return Rule.K_FLUSH_4
    return Rule.K_FLUSH_2 if expected["dirty"] != got["dirty"] else Rule.K_FLUSH_5


def typed(op: Any, value: Any) -> Outcome:
    """An outcome from its JSON object; what steps inside calls have answered stays as it is."""
    if isinstance(value, Outcome):
        return value
    answer = {name: part for name, part in value.items() if name not in {"flushed", "forwarded"}}
    kind = Failed if "error" in answer else answer_type(op)
    calls = tuple(
        Call(call["ns"], tuple(_handed(*entry) for entry in call["entries"]), tuple(call["inner"]))
        for call in value.get("flushed", ())
    )
    forwards = tuple(
        Forward(call["store"], call["key"], call["value"], tuple(call["inner"])) for call in value.get("forwarded", ())
    )
    return Outcome(decode_object(kind, answer), calls, forwards)


def _handed(key: str, value: str | None, context: dict[str, int] | None = None) -> Handed:
    return Handed(key, value, Context(**(context or {})))


def _alike(mutants: Sequence[Mutant], subject: UnderTest, probed: Probed) -> list[Rule]:
    """The rules of those faulty references that answer alike."""
    return [mutant.rule for mutant in mutants if _answers_alike(mutant, subject, probed)]


def _answers_alike(mutant: Mutant, subject: UnderTest, probed: Probed) -> bool:
    """Whether the faulty reference is right up to the difference and there answers what the subject answered."""
    with applied(mutant):
        return _is_alike(probed.case.config, subject, probed)


def _reads_alike(reading: Mapping[str, Any], subject: UnderTest, probed: Probed) -> bool:
    """The same of the reference under another reading."""
    config = probed.case.config
    variants = replace(config.variants, **reading)
    return variants != config.variants and _is_alike(replace(config, variants=variants), subject, probed)


def _is_alike(config: Any, subject: UnderTest, probed: Probed) -> bool:
    introspection = subject.declaration.introspection
    case, last = probed.case, probed.difference.at
    try:
        state = case.system.model.initial(config)
        for at, op in enumerate(case.steps[: last + 1]):
            done = case.system.model.step(state, op, config)
            wanted = probed.difference.got if at == last else probed.steps[at].outcome
            if declared_part(done.outcome, introspection) != declared_part(wanted, introspection):
                return False
            state = done.state
    except EntrycacheError:
        raise
    except Exception:  # a planted fault may break anything; then it explains nothing
        return False
    return True
