"""What keeps a case from a subject: steps that give no answer under the variants that it declares."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from entrycache_protocol.declaration import Declaration
from entrycache_reference.kafka_streams import Config, initial, ops, step
from entrycache_reference.kafka_streams.config import Total
from entrycache_reference.kafka_streams.outcomes import Unanswered
from entrycache_reference.kafka_streams.state import State


def unfit(declaration: Declaration, config: Config, steps: Sequence[Any]) -> str:
    """Why the case cannot be asked of the subject; empty where it can."""
    if config.variants.total is Total.EXACT:
        return ""
    state = initial(config)
    for at, op in enumerate(steps):
        done = step(state, op, config)
        if isinstance(done.outcome.answer, Unanswered):
            return f"under the declared variants step {at} of the case gives no answer: {done.outcome.answer.reason}"
        state = done.state
    return ""


def answered_only(make: Callable[[str, State], Any], config: Config) -> Callable[[str, State], Any]:
    """The maker of operations, but one that would give no answer under these variants is a look at the total."""
    if config.variants.total is Total.EXACT:
        return make

    def made(name: str, state: State) -> Any:
        op = make(name, state)
        answer = step(state, op, config).outcome.answer
        return ops.Usage() if isinstance(answer, Unanswered) else op

    return made
