"""Permits for the bytes of reads in flight: a read takes permits before it begins, and gives them back when it ends.

What is free and what is out is the limit. A request that does not fit waits in a queue, in which nobody is passed over.
A request above the limit is granted the whole limit once all of it is free. Requests that have waited too long fail.

Beside: InflightReadsLimiter.acquire, .release, .timeoutCheck (managed-ledger 4.2.4)
"""

from typing import Final

from entrycache_reference.pulsar_pip430 import ops
from entrycache_reference.pulsar_pip430.config import Config, LimiterOrder, LimiterTimeout
from entrycache_reference.pulsar_pip430.outcomes import Decided, ErrorKind, Permits, Permitted, Refused
from entrycache_reference.pulsar_pip430.state import Limiter, State, Step, WaitingRequest
from entrycache_reference.rules import Rule, rule
from entrycache_reference.vocabulary import RequestName

REFUSED: Final = Refused(ErrorKind.ILLEGAL_ARGUMENT)

NANOS_A_MILLISECOND: Final = 1_000_000

Grants = tuple[tuple[RequestName, int], ...]
"""Requests with the permits that they are granted; 0: the request has timed out."""


@rule(Rule.LIMIT_3)
def permits_now(limiter: Limiter, permits: int, config: Config) -> int:
    """Return the permits that a request is granted now; 0: it does not fit."""
    limit = config.max_reads_in_flight_bytes
    if permits <= limiter.free:
        return permits
    return limit if permits > limit and limiter.free == limit else 0


@rule(Rule.LIMIT_2)
def must_wait(limiter: Limiter, config: Config) -> bool:
    """Return whether a request waits even if it fits, because others do."""
    return bool(limiter.waiting) and config.variants.limiter_order is LimiterOrder.FIFO


@rule(Rule.LIMIT_7)
def hand_out(limiter: Limiter, name: RequestName, permits: int) -> Limiter:
    """Return the limiter after it has granted a request these permits."""
    return limiter._replace(free=limiter.free - permits, out={**limiter.out, name: permits})


@rule(Rule.LIMIT_7)
def take_back(limiter: Limiter, name: RequestName) -> Limiter:
    """Return the limiter after a request has given its permits back."""
    left = {other: permits for other, permits in limiter.out.items() if other != name}
    return limiter._replace(free=limiter.free + limiter.out[name], out=left)


@rule(Rule.LIMIT_5)
def serve(state: State, config: Config, grants: Grants = ()) -> Step:
    """Grant the waiting requests from the head, while the head fits; answer these grants, and those before them."""
    limiter = state.limiter
    while limiter.waiting:
        head = limiter.waiting[0]
        permits = permits_now(limiter, head.permits, config)
        if permits == 0:
            break
        limiter = hand_out(limiter._replace(waiting=limiter.waiting[1:]), head.name, permits)
        grants = (*grants, (head.name, permits))
    return Step(state._replace(limiter=limiter), Decided(grants or None), ())


@rule(Rule.LIMIT_4)
def enqueue(limiter: Limiter, request: WaitingRequest, config: Config) -> Limiter:
    """Return the limiter with the request at the tail of its queue, or as it was if the queue is full."""
    if len(limiter.waiting) >= config.acquire_queue:
        return limiter
    return limiter._replace(waiting=(*limiter.waiting, request))


@rule(Rule.LIMIT_2, Rule.LIMIT_3, Rule.LIMIT_4)
def acquire(state: State, event: ops.Acquire, config: Config) -> Step:
    """Grant a request its permits, let it wait, or refuse it a place in the queue."""
    # GUARD: a limit, permits to ask for, and a name that is free.
    limiter = state.limiter
    is_known = event.id in limiter.out or any(request.name == event.id for request in limiter.waiting)
    if config.max_reads_in_flight_bytes == 0 or event.permits < 1 or is_known:
        return Step(state, REFUSED, ())

    # DECISION: whether the request is granted now.
    permits = 0 if must_wait(limiter, config) else permits_now(limiter, event.permits, config)

    # EFFECT and OUTCOME
    if permits > 0:
        return Step(state._replace(limiter=hand_out(limiter, event.id, permits)), Permitted(permits), ())
    after = enqueue(limiter, WaitingRequest(event.id, event.permits, state.now_nanos), config)
    return Step(state._replace(limiter=after), Permitted(0 if after is limiter else None), ())


@rule(Rule.LIMIT_5)
def give_back(state: State, event: ops.GiveBack, config: Config) -> Step:
    """Take permits back, then serve the requests that wait."""
    # GUARD: permits that are out.
    if event.id not in state.limiter.out:
        return Step(state, REFUSED, ())

    # DECISION, EFFECT and OUTCOME
    return serve(state._replace(limiter=take_back(state.limiter, event.id)), config)


@rule(Rule.LIMIT_6)
def is_too_late(request: WaitingRequest, now_nanos: int, config: Config) -> bool:
    """Return whether a request has waited for as long as it may, in whole milliseconds of both moments."""
    age_millis = now_nanos // NANOS_A_MILLISECOND - request.since_nanos // NANOS_A_MILLISECOND
    return 0 < config.acquire_timeout_millis <= age_millis


@rule(Rule.LIMIT_6)
def time_out(state: State, config: Config) -> Step:
    """Fail the requests that have waited too long, from the head, then serve the rest."""
    waiting = state.limiter.waiting
    grants: Grants = ()
    while waiting and is_too_late(waiting[0], state.now_nanos, config):
        grants = (*grants, (waiting[0].name, 0))
        waiting = waiting[1:]
    after = state._replace(limiter=state.limiter._replace(waiting=waiting)) if grants else state
    if config.variants.limiter_timeout is LimiterTimeout.LEAVES:
        return Step(after, Decided(grants or None), ())
    return serve(after, config, grants)


@rule(Rule.LIMIT_7)
def limiter_state(state: State, event: ops.LimiterState, config: Config) -> Step:
    """Return the permits that are free, and the number of requests that wait."""
    # GUARD: none.  DECISION: none.  EFFECT: none.
    # OUTCOME
    return Step(state, Permits(state.limiter.free, len(state.limiter.waiting)), ())
