"""Subjects in Python: a class with one method for each operation.

The author extends `Subject`. `serve` speaks the protocol for the class on stdin and stdout, and `check` of the public
door judges it in a test. Both go through `ClassAnswerer`, which turns the class into an answerer of
`entrycache_protocol.server`: it builds the start answer from the attributes of the class and its public methods, passes
the arguments of a step to the method of that name, and returns the dict that the method returns.
"""

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
    """Refuse a step: a method raises this instead of answering, and has changed nothing.

    `error` is the error of the protocol. `further` holds further keys of the answer, such as `flushed`.
    """

    def __init__(self, error: str = "illegal-argument", **further: Any) -> None:
        super().__init__(error)
        self.answer: dict[str, Any] = {"error": error, **further}


class Subject:
    """An implementation under test: a subclass declares what it offers, and has a method for each operation.

        class Naive(Subject):
            system = "pulsar-pip430"
            settings = ()

            def __init__(self, config):
                self.entries = {}

            def insert(self, cache, pos, size, expected_reads=None):
                ...
                return {"inserted": True}

    Every run makes a new instance. Its configuration holds the settings of the request under their names. Each public
    method that the class defines is an operation; the name of any other method begins with an underscore. Arguments
    have the names of the protocol, with an underscore after a Python keyword (`from_`). An argument that may be absent
    needs a default. Arguments are plain values: a position is a tuple `(ledger, entry)`, and every array is a tuple.
    A method returns the object of the protocol as a dict; None stands for `{}`. It may raise `Refuse` or `Skip`; any
    other error is an error of the implementation.
    """

    system: ClassVar[str] = ""
    """The system, such as `pulsar-pip430`."""
    settings: ClassVar[Sequence[str] | None] = None
    """The keys of the configuration that a run may vary; None: all. A key that is not sent has its default."""
    fixed: ClassVar[Mapping[str, Any]] = {}
    """The settings that the implementation fixes; they are never sent."""
    variants: ClassVar[Mapping[str, str]] = {}
    """The variants of the rules that the implementation follows."""
    introspection: ClassVar[Sequence[str]] = ()
    """The parts of `observe` (of `metrics` and `usage`) that are compared."""
    payload: ClassVar[bool] = False
    """True if an insert carries a `token` and hits answer `tokens`."""
    leaks: ClassVar[bool] = False
    """True if `leaked` is called when a run has ended."""
    limits: ClassVar[Mapping[str, Any]] = {}
    """The limits that the runner respects, such as `max_steps`; with `threads` it plays histories."""
    findings: ClassVar[Mapping[str, str]] = {}
    """The findings that limits and variants stand for."""
    version: ClassVar[str] = ""
    """The version that reports show."""
    operations: ClassVar[tuple[str, ...]] = ()
    """The operations that the class offers, derived from its methods."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.operations = tuple(
            dict.fromkeys(name for kind in reversed(cls.__mro__) for name in vars(kind) if _is_operation(cls, name))
        )

    def __init__(self, config: Mapping[str, Any]) -> None:
        """Make a new, empty instance."""

    def leaked(self) -> int:
        """Return the number of buffer references that are left, if `leaks` is declared."""
        return 0

    @final
    def perform(self, step: Mapping[str, Any]) -> Any:
        """Perform one step and return its answer; a listener calls this for the steps inside a call."""
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
    """Return whether a name of a class is a public method that `Subject` itself does not have."""
    attribute = inspect.getattr_static(kind, name)
    return inspect.isfunction(attribute) and not name.startswith("_") and not hasattr(Subject, name)


def _parameter_name(name: str) -> str:
    return f"{name}_" if keyword.iskeyword(name) else name


def _check_signature(method: Any, arguments: dict[str, Any]) -> None:
    """Check that a method takes the arguments of its operation.

    Raises:
        TypeError: it does not; the message names what it lacks.
    """
    try:
        inspect.signature(method).bind(**arguments)
    except TypeError as error:
        raise TypeError(f"the method {method.__name__} does not take the arguments of its op: {error}") from None


def _build_offer(subject: type[Subject]) -> dict[str, Any]:
    """Build the part of the start answer that is about the system."""
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
    """The answerer for a class of an author, whose steps and outcomes are plain JSON values."""

    def __init__(self, subject: type[Subject]) -> None:
        """Take the class.

        Raises:
            UsageError: the class does not extend `Subject`, or names no system.
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
        """Open a new, empty instance."""
        return self._subject(config)

    def open_shared(self, config: Any) -> Subject | None:
        """Open an instance for several threads, if the class declares `limits.threads`."""
        return self._subject(config) if "threads" in self._subject.limits else None

    def read(self, step: Any) -> Any:
        """Return the step with its arrays as tuples."""
        return _freeze(step)

    def perform(self, instance: Subject, step: Any) -> Any:
        """Perform one step on an instance and return its answer."""
        return instance.perform(step)

    def write(self, outcome: Any) -> Any:
        """Return an answer unchanged."""
        return outcome

    def leaked(self, instance: Subject) -> int | None:
        """Return the references that the instance counts, if the class declares `leaks`."""
        return instance.leaked() if self._subject.leaks else None


def _freeze(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_freeze(item) for item in value)
    if isinstance(value, dict):
        return {name: _freeze(part) for name, part in value.items()}
    return value


def serve(subject: type[Subject]) -> int:
    """Speak the protocol for a class on stdin and stdout until `stop` or the end of input, and return the exit code.

    Output that the implementation prints goes to stderr.
    """
    answers = sys.stdout
    try:
        with contextlib.redirect_stdout(sys.stderr):
            return server.serve_requests(ClassAnswerer(subject), sink=answers)
    except EntrycacheError as error:
        print(f"serve: {error}", file=sys.stderr)
        return error.exit_code
