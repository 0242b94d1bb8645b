"""Claims of the second model of `pulsar-pip430`: termination, ages, and the wrapper's protocol with threads.

Each claim is a module in which TLC finds no error, and the same module with a seeded error that it finds. The claims
about termination say which passes and lives end. Those about the wrapper take out one guard each, and TLC finds the
race.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from entrycache_evidence.tlc.evidence import Claim
from entrycache_evidence.tlc.runner import Module, render_constants
from entrycache_reference.pulsar_pip430 import NAME
from entrycache_reference.rules import Rule

BUDGET: Final = 2
TTL: Final = 1
KEYS: Final = (("a", 0, 0), ("a", 0, 1))
COMMON: Final[dict[str, Any]] = {
    "Start": {"max": 1000, "watermark": (9, 10), "ttl": TTL, "requeues": BUDGET, "extend": True},
    "Eviction": "inline",
    "Offers": tuple({"key": key, "size": 1, "expected": (count,)} for key, count in zip(KEYS, (1, 0), strict=True)),
    "Need": 2,
}
"""Two entries, the first of which expects a read that never comes."""

TIME: Final = frozenset({"time"})
"""The kinds of pass, if only time passes run."""

NO_BUDGET: Final = ("Requeued(t, entry)", "[entry EXCEPT !.stamp = t.now, !.accessed = FALSE]")
"""A requeue that does not count."""


def build_liveness(holds: str, *changed: tuple[str, str], **given: Any) -> Module:
    """Build the module of liveness for one property."""
    own = {"Kinds": frozenset({"time", "size"}), "Reads": frozenset(KEYS), "ReadsInPass": False}
    own |= {"Oldest": TTL + 1, "Most": BUDGET}
    return Module(
        NAME,
        "Liveness",
        (*render_constants({**COMMON, **own, **given}), *changed),
        ("SPECIFICATION Spec", f"PROPERTY {holds}"),
    )


def build_ages(**given: Any) -> Module:
    """Build the module of ages."""
    own = {"Interval": 2, "Reads": frozenset(), "Slack": 0}
    config = ("INIT Init", "NEXT Next", "INVARIANT AgesAreBounded")
    return Module(NAME, "AgeBound", render_constants({**COMMON, **own, **given}), config)


TERMINATION_CLAIMS: Final = (
    Claim(
        Rule.LIVENESS_1,
        "a pass ends, if nobody reads while it is under way",
        build_liveness("PassEnds"),
        "readers mark entries while a size pass walks",
        build_liveness("PassEnds", ReadsInPass=True),
        goes_on=True,
    ),
    Claim(
        Rule.LIVENESS_1,
        "a time pass ends, whoever reads while it is under way",
        build_liveness("PassEnds", Kinds=TIME, ReadsInPass=True),
        "it is a size pass",
        build_liveness("PassEnds", ReadsInPass=True),
        goes_on=True,
    ),
    Claim(
        Rule.REQUEUE_3,
        "an entry that is no longer read leaves, if time and time passes go on, though a read is expected",
        build_liveness("UnreadLeaves", Kinds=TIME),
        "a requeue uses up nothing",
        build_liveness("UnreadLeaves", NO_BUDGET, Kinds=TIME),
        goes_on=True,
    ),
    Claim(
        Rule.REQUEUE_1,
        "every entry leaves where nobody reads, if time and time passes go on",
        build_liveness("EveryoneLeaves", Reads=frozenset()),
        "an entry is read between any two passes",
        build_liveness("EveryoneLeaves"),
        goes_on=True,
    ),
    Claim(
        Rule.REQUEUE_6,
        f"no unread entry is older than (max_requeues + 1) * (ttl + interval of passes), for {BUDGET}, {TTL} and 2",
        build_ages(),
        "the bound is claimed one tick lower",
        build_ages(Slack=1),
    ),
    Claim(
        Rule.REQUEUE_5,
        f"that bound holds though size passes requeue too, for {BUDGET}, {TTL} and 2",
        build_ages(),
        "entries are read",
        build_ages(Reads=frozenset(KEYS)),
    ),
)
"""The claims about termination, under the fairness that the module states."""


# --- The protocol of the wrapper

INVARIANTS: Final = ("NothingWrong", "Balanced", "ReadsRight", "SaysTrue", "PoolIsFree", "OneSlot", "Settled")


SIZES: Final[Mapping[str, frozenset[str]]] = {
    "Keys": frozenset({"k1", "k2"}),
    "Wrappers": frozenset({"w1", "w2"}),
    "Values": frozenset({"v1", "v2"}),
    "Readers": frozenset({"reader"}),
    "Removers": frozenset({"remover"}),
    "Writers": frozenset({"writer1", "writer2"}),
    "Evictors": frozenset({"evictor"}),
}
"""Two positions, two inserts, a read, a removal, and passes."""

PASSES: Final[Mapping[str, frozenset[str]]] = {
    **SIZES,
    "Readers": frozenset(),
    "Removers": frozenset(),
    "Evictors": frozenset({"evictor1", "evictor2"}),
}
"""Two evictors that run passes, and inserts."""


class Guard(NamedTuple):
    """A guard by the name of its constant, the rule that it protects, and the race without it with its source."""

    name: str
    rule: Rule
    race: str
    sizes: Mapping[str, frozenset[str]] = SIZES


GUARDS: Final = (
    Guard("ValidatesRead", Rule.LIVENESS_2, "a reader takes a value that is just being removed (kin of PR 22789)"),
    Guard("FailsAtZero", Rule.READ_1, "a reader retains a value whose last reference is gone (PR 22789)"),
    Guard("ChecksAgain", Rule.READ_1, "a reader is handed a value that was used anew for another position (PR 22789)"),
    Guard("RemovesSame", Rule.STATE_8, "a removal takes what stands there now, not what it looked up (PR 18076)"),
    Guard("MapFirst", Rule.INSERT_2, "the wrapper of a duplicate is used anew while it is in the queue (PR 24363)"),
    Guard(
        "RecyclesAfterPoll", Rule.STATE_2, "a removal by a call gives back a wrapper that is in the queue (PR 10433)"
    ),
    Guard("ForgetsAll", Rule.INSERT_1, "what was known of a former value is taken for known of a new one (PR 25987)"),
    Guard(
        "PassesAlone", Rule.STATE_2, "a pass takes from the queue what another one looked at (kin of PR 25988)", PASSES
    ),
)


def build_wrapper(without: str = "", sizes: Mapping[str, frozenset[str]] = SIZES) -> Module:
    """Build the module with every guard, or with every one but this."""
    guards = {guard.name: guard.name != without for guard in GUARDS}
    config = ("INIT Init", "NEXT Next", *(f"INVARIANT {name}" for name in INVARIANTS))
    return Module(NAME, "Wrapper", render_constants({**sizes, **guards}), config)


def build_claim(guard: Guard) -> Claim:
    """Build the claim that every guard is needed: the invariants hold with all, and a race appears without this one."""
    threads = sum(len(guard.sizes[kind]) for kind in ("Readers", "Removers", "Writers", "Evictors"))
    what = f"the wrapper's protocol with {threads} threads breaks no invariant"
    missing = f"{guard.name} is taken out: {guard.race}"
    return Claim(guard.rule, what, build_wrapper("", guard.sizes), missing, build_wrapper(guard.name, guard.sizes))


WRAPPER_CLAIMS: Final = tuple(build_claim(guard) for guard in GUARDS)
"""The claims, one for each guard."""
