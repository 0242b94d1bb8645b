"""What the author of a Python subject writes: a class with one method an operation."""

from __future__ import annotations

import contextlib
import inspect
import json
import keyword
import sys
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, final

from entrycache_protocol import server
from entrycache_protocol.codec import MalformedValue
from entrycache_protocol.errors import EntrycacheError, UsageError


class Refuse(Exception):
    """Raised by a method instead of an answer: the step is refused, and has changed nothing.

    `error` is another error of the protocol, `beside` what stands beside it in the answer, such as `flushed`.
    """

    def __init__(self, error: str = "illegal-argument", **beside: Any) -> None:
        super().__init__(error)
        self.answer: dict[str, Any] = {"error": error, **beside}


class Subject:
    """An implementation under test. A class of its own says what it offers, and has a method for each operation.

        class Naive(Subject):
            system = "pulsar-pip430"
            settings = ()

            def __init__(self, config):
                self.entries = {}

            def insert(self, cache, pos, size, expected_reads=None):
                ...
                return {"inserted": True}

    Every run makes a new instance. Its configuration holds the settings that were sent, under their names. A method
    is offered because it is there: each public method that the class defines is an operation, each other one
    begins with an underscore. Arguments come by the names of the protocol, what may be absent needs a default; one
    that Python keeps for itself has an underscore behind it (`from_`). They are plain values: a position is a tuple
    `(ledger, entry)`, every other array a tuple too. The answer is the object of the protocol as a dict; None stands
    for `{}`. A method may raise `Refuse` or `Skip`; any other error is an error of the implementation.
    """

    system: ClassVar[str] = ""
    """The system, such as `pulsar-pip430`."""
    settings: ClassVar[Sequence[str] | None] = None
    """The keys of the configuration that a run may vary; None: all. What is not sent has its default."""
    fixed: ClassVar[Mapping[str, Any]] = {}
    """Settings with a value of its own; they are never sent."""
    variants: ClassVar[Mapping[str, str]] = {}
    """Named readings of the rules that it follows."""
    introspection: ClassVar[Sequence[str]] = ()
    """Parts of `observe` (of `metrics` and `usage`) that are compared."""
    payload: ClassVar[bool] = False
    """Whether an insert carries a `token`, and hits answer `tokens`."""
    leaks: ClassVar[bool] = False
    """Whether `leaked` is asked when a run has ended."""
    limits: ClassVar[Mapping[str, Any]] = {}
    """What the runner keeps out of, such as `max_steps`; with `threads` it plays histories."""
    findings: ClassVar[Mapping[str, str]] = {}
    """The finding that a limit or a variant stands for."""
    version: ClassVar[str] = ""
    """The version that reports tell."""
    operations: ClassVar[tuple[str, ...]] = ()
    """Made from the methods: the operations that the class offers."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.operations = tuple(
            dict.fromkeys(name for kind in reversed(cls.__mro__) for name in vars(kind) if _is_operation(cls, name))
        )

    def __init__(self, config: Mapping[str, Any]) -> None:
        """A new, empty instance."""

    def leaked(self) -> int:
        """The buffer references that are left, where `leaks` is declared."""
        return 0

    @final
    def perform(self, step: Mapping[str, Any]) -> Any:
        """The answer to one step; for the steps that a listener performs inside a call."""
        arguments = {_parameter_name(name): value for name, value in step.items() if name != "op"}
        if step.get("op") not in self.operations:
            raise MalformedValue(f"unknown op {step.get('op')!r}")
        method = getattr(self, step["op"])
        try:
            answer = method(**arguments)
        except Refuse as refused:
            return refused.answer
        except TypeError:
            _check_signature(method, arguments)
            raise
        return {} if answer is None else answer


def _is_operation(kind: type[Subject], name: str) -> bool:
    """Whether a name of a class is a public method that `Subject` itself does not have."""
    found = inspect.getattr_static(kind, name)
    return inspect.isfunction(found) and not name.startswith("_") and not hasattr(Subject, name)


def _parameter_name(name: str) -> str:
    return f"{name}_" if keyword.iskeyword(name) else name


def _check_signature(method: Any, arguments: dict[str, Any]) -> None:
    """Tell a method that does not take the arguments of its operation.

    Raises:
        TypeError: it does not; what it lacks is named.
    """
    try:
        inspect.signature(method).bind(**arguments)
    except TypeError as error:
        raise TypeError(f"the method {method.__name__} does not take the arguments of its op: {error}") from None


def _build_offer(subject: type[Subject]) -> dict[str, Any]:
    """What a start answer says of the system."""
    return {
        "ops": subject.operations,
        **({} if subject.settings is None else {"config": subject.settings}),
        "fixed": subject.fixed,
        "variants": subject.variants,
        "introspection": subject.introspection,
        "payload": subject.payload,
        "leaks": subject.leaks,
        "limits": subject.limits,
        "findings": subject.findings,
    }


class ClassAnswerer:
    """A class of an author, as the loop wants who answers: steps and outcomes are what JSON makes of them."""

    def __init__(self, subject: type[Subject]) -> None:
        """Take the class.

        Raises:
            UsageError: it is no such class, or names no system.
        """
        if not (isinstance(subject, type) and issubclass(subject, Subject)):
            raise UsageError(f"expected a class that extends Subject, got {subject!r}")
        self.name = subject.__name__
        if not subject.system:
            raise UsageError(f'{self.name} names no system; it needs a line such as: system = "pulsar-pip430"')
        self._subject = subject
        version = {"version": subject.version} if subject.version else {}
        self.start_answer: dict[str, Any] = {
            "version": 1,
            "implementation": {"name": self.name, **version, "language": "Python"},
            "systems": {subject.system: _build_offer(subject)},
        }
        try:
            json.dumps(self.start_answer)
        except (TypeError, ValueError) as error:
            raise UsageError(f"what {self.name} declares is not JSON: {error}") from None

    def open(self, config: Any) -> Subject:
        """A new, empty instance."""
        return self._subject(config)

    def open_shared(self, config: Any) -> Subject | None:
        """The same: a class that declares `limits.threads` lets several threads call an instance."""
        return self._subject(config) if "threads" in self._subject.limits else None

    def read(self, step: Any) -> Any:
        """The step, its arrays as tuples."""
        return _freeze(step)

    def perform(self, instance: Subject, step: Any) -> Any:
        """One step on an instance; its answer."""
        return instance.perform(step)

    def write(self, outcome: Any) -> Any:
        """An answer is as it is."""
        return outcome

    def leaked(self, instance: Subject) -> int | None:
        """What the instance says, where it is asked."""
        return instance.leaked() if self._subject.leaks else None


def _freeze(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_freeze(item) for item in value)
    if isinstance(value, dict):
        return {name: _freeze(part) for name, part in value.items()}
    return value


def serve(subject: type[Subject]) -> int:
    """Speak the protocol for a class on stdin and stdout, until `stop` or the end of input; the exit code.

    What the implementation prints meanwhile goes to stderr.
    """
    answers = sys.stdout
    try:
        with contextlib.redirect_stdout(sys.stderr):
            return server.serve_requests(ClassAnswerer(subject), sink=answers)
    except EntrycacheError as error:
        print(f"serve: {error}", file=sys.stderr)
        return error.exit_code
