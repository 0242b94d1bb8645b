"""The reference of a system as a subject, and a broken one.

`reference_subject` serves the reference, or a model of it with a seeded fault. `open_broken_reference` gives wrong
answers on purpose under the declaration of another subject. A run uses it to check that its search would notice.
"""

import dataclasses
from collections.abc import Callable, Mapping
from enum import Enum
from functools import partial
from typing import Any, Final

from entrycache_faults.model import Fault
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.subject import InProcessSubject, OpenInstance
from entrycache_protocol.system import AnyModel, AnySystem, Instance, LocalSubject, OrderedStep

REFERENCE_NAME: Final = "reference"
"""The name of the reference as a subject."""

MAX_CLIENTS: Final = 8
"""The largest number of clients of a history that our own caches take."""


def open_reference(model: AnyModel, ordered: OrderedStep | None = None) -> Callable[[Any], Instance]:
    """Return a function that opens instances of a reference, or of a model of it with a seeded fault.

    With `ordered` steps an instance also says in which order its passes took the entries.
    """

    def open_instance(config: Any) -> Instance:
        state = model.initial(config)

        def answer(op: Any) -> Any:
            nonlocal state
            done = ordered(state, op, config, None) if ordered else model.step(state, op, config)
            state = done.state
            return done.outcome

        return answer

    return open_instance


def fault_subjects(faults: Mapping[str, Fault], offer: dict[str, Any]) -> dict[str, LocalSubject]:
    """Return seeded faults of a reference as subjects with this offer, by their public names."""
    return {name: LocalSubject(offer, partial(_open_fault, fault=fault)) for name, fault in faults.items()}


def all_fault_subjects(
    faults: Mapping[str, LocalSubject], offer: dict[str, Any], open_cache: Callable[..., Instance],
    cache_types: Mapping[str, type[Any]],
) -> dict[str, LocalSubject]:  # fmt: skip
    """Return the fault subjects of a system by name: those of its reference, and those of its fast cache.

    `open_cache` opens a faulty fast cache of the given `cache_type`, and `offer` is the offer of the fast cache.
    """
    caches = {name: LocalSubject(offer, partial(open_cache, cache_type=each)) for name, each in cache_types.items()}
    return dict(sorted({**faults, **caches}.items()))


def _open_fault(config: Any, fault: Fault) -> Instance:
    return open_reference(fault.model)(config)


def reference_offer(system: AnySystem) -> dict[str, Any]:
    """Return the offer of the reference: everything that the system has."""
    return {
        "ops": list(system.ops),
        "introspection": sorted(system.wire.introspection),
        "payload": has_payload(system),
        "limits": {"threads": 1 if system.histories is None else MAX_CLIENTS, **options_of(system)},
    }


def options_of(system: AnySystem) -> dict[str, bool]:
    """Return the limits of a system by which a subject declares what none has to take."""
    return {each.name: True for each in dataclasses.fields(system.wire.limits) if "undeclared" in each.metadata}


def has_payload(system: AnySystem) -> bool:
    """Return whether entries of the system carry a token."""
    return "token" in {name for op in system.ops.values() for name in op.__slots__}


def reference_subject(
    system: AnySystem, called: str = REFERENCE_NAME, open_shared: OpenInstance | None = None
) -> InProcessSubject:
    """Return the reference of a system as a subject.

    `open_shared` opens it for several threads in another way than the system does.
    """
    shared = None if system.histories is None else system.histories.open_shared
    return InProcessSubject(
        called, system, open_reference(system.model), reference_offer(system), open_shared or shared
    )


FIRST_WRONG_CALL: Final = 3
"""The first call of the operation that is answered wrongly."""


class BrokenReference(InProcessSubject):
    """The reference with wrong answers, under the declaration of the subject to be judged.

    `lies` becomes true when an operation is played whose answer can be wrong.
    """

    lies = False

    def __init__(self, declaration: Declaration, open_instance: Callable[[Any], Callable[[Any], Any]]) -> None:
        super().__init__("broken on purpose", declaration.system, open_instance, reference_offer(declaration.system))
        self._declaration = declaration


def corrupt_outcome(outcome: Any, refusal: Any, uncompared: frozenset[str] = frozenset()) -> Any:
    """Return the outcome with its first field changed to another value of the same type, or a refusal.

    A field that is not compared stays.
    """
    fields = [each for each in dataclasses.fields(outcome) if each.name not in uncompared]
    if not fields:
        return refusal
    value = getattr(outcome, fields[0].name)
    changed: Any = value
    if type(value) is bool:
        changed = not value
    elif type(value) is int:
        changed = value + 1
    elif type(value) is tuple:
        changed = value[1:]
    elif value is None:
        changed = 0
    elif dataclasses.is_dataclass(value):
        changed = corrupt_outcome(value, refusal)
    return dataclasses.replace(outcome, **{fields[0].name: changed})


def can_be_corrupted(outcome: Any, uncompared: frozenset[str] = frozenset()) -> bool:
    """Return whether there is another outcome of the same kind. An empty list and a refusal have none."""
    fields = [each for each in dataclasses.fields(outcome) if each.name not in uncompared]
    value = getattr(outcome, fields[0].name) if fields else None
    return value is None or (value != () and not isinstance(value, Enum))


def open_broken_reference(declaration: Declaration, op_name: str) -> BrokenReference:
    """Return a reference that answers wrongly from the third call of one operation on, or the last that its limits
    allow.
    """
    model, slack = declaration.system.model, declaration.order_slack
    correct = open_reference(model, model.ordered(model, slack) if slack and model.ordered is not None else None)
    refusal = declaration.system.wire.refusal
    uncompared = declaration.uncompared.get(op_name, frozenset())
    lies_from = min(FIRST_WRONG_CALL, declaration.limits.max_steps or FIRST_WRONG_CALL)

    def open_instance(config: Any) -> Callable[[Any], Any]:
        answer = correct(config)
        calls = 0

        def lie(op: Any) -> Any:
            nonlocal calls
            outcome = answer(op)
            calls += type(op).name == op_name
            if type(op).name != op_name or calls < lies_from:
                return outcome
            broken.lies |= can_be_corrupted(outcome, uncompared)
            return corrupt_outcome(outcome, refusal, uncompared)

        return lie

    broken = BrokenReference(declaration, open_instance)
    return broken
