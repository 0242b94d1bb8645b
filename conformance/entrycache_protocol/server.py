"""The server side of the protocol, and subjects in Python: a class with one method for each operation.

An `Answerer` opens instances, performs steps, and converts steps and outcomes from and to JSON. `serve_requests` reads
requests, plays them on an answerer and writes the answers, until `stop` or the end of input. An error of the
implementation is its answer. `TypedAnswerer` serves the subjects of this process, whose steps are dataclasses of their
system.

The author of a subject extends `Subject`. `serve` speaks the protocol for the class on stdin and stdout, and `check` of
the public door judges it in a test. Both go through `ClassAnswerer`: it builds the start answer from the attributes of
the class and its public methods, passes the arguments of a step to the method of that name, and returns the dict that
the method returns.
"""

import contextlib
import inspect
import json
import keyword
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import IO, Any, ClassVar, Final, Protocol, final

from entrycache_protocol import codec, errors, subject
from entrycache_protocol.subject import InProcessSubject, raise_interruption

OUR_PACKAGES: Final = ("entrycache_protocol.", "entrycache_conformance.")
"""The packages whose lines are left out at the top of a traceback."""


class Skip(Exception):
    """The reason why a run cannot be played; an implementation raises it instead of answering."""

    def __init__(self, reason: str, issue_url: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.issue_url = issue_url


class Answerer(Protocol):
    """The part that knows the implementation: it opens instances, performs steps and converts from and to JSON.

    `open`, `open_shared` and `read` raise `MalformedValue` if the request is not of the protocol.
    """

    @property
    def start_answer(self) -> dict[str, Any]:
        """The answer to `start`."""

    def open(self, config: Any) -> Any:
        """Open a new, empty instance."""

    def open_shared(self, config: Any) -> Any | None:
        """Open a new, empty instance for several threads, or return None if there is none."""

    def read(self, step: Any) -> Any:
        """Convert a step of a request to the form that `perform` takes."""

    def perform(self, instance: Any, step: Any) -> Any:
        """Perform one step on an instance and return its outcome."""

    def write(self, outcome: Any) -> Any:
        """Convert an outcome to the JSON of an answer."""

    def leaked(self, instance: Any) -> int | None:
        """Return the references that are left when a run has ended, or None if nobody counts them."""


def _errored(request: dict[str, Any], step: int | None, error: BaseException) -> dict[str, Any]:
    """Return the answer for an error; the message names the type of an error of the implementation, not of ours."""
    message = (
        str(error)
        if isinstance(error, codec.MalformedValue | subject.StepError)
        else f"{type(error).__name__}: {error}"
    )
    trace = "" if isinstance(error, codec.MalformedValue) else _format_traceback(error)
    return {"id": request.get("id"), "errored": {"step": step, "message": message, "traceback": trace}}


def _format_traceback(error: BaseException) -> str:
    """Return the traceback of an error, from the first line that is not ours."""
    trace = error.__traceback__
    while trace and str(trace.tb_frame.f_globals.get("__name__")).startswith(OUR_PACKAGES):
        trace = trace.tb_next
    return "".join(traceback.format_exception(type(error), error, trace or error.__traceback__))


def _cut_context(error: BaseException, outside: BaseException | None) -> None:
    """Forget what was handled when a run began: it is not the context of an error of the run."""
    inner: BaseException | None = error
    while inner is not None and inner.__context__ is not outside:
        inner = inner.__context__
    if inner is not None:
        inner.__context__ = None


def _skipped(request: dict[str, Any], skip: Skip) -> dict[str, Any]:
    link = {} if skip.issue_url is None else {"issue_url": skip.issue_url}
    return {"id": request.get("id"), "skipped": {"reason": skip.reason, **link}}


def _open_instance(request: dict[str, Any], answerer: Answerer, opener: Callable[[Any], Any]) -> Any:
    if request.get("system") not in answerer.start_answer["systems"]:
        raise codec.MalformedValue(f"system {request.get('system')!r} is not offered")
    try:
        return opener(request.get("config", {}))
    except codec.MalformedValue as error:
        raise codec.MalformedValue(f"config: {error}") from None


def _check_array(value: Any, name: str) -> list[Any]:
    if type(value) is not list:
        raise codec.MalformedValue(f"{name} is not an array")
    return value


def answer_run(answerer: Answerer, request: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to a `run`."""
    at, outside = 0, sys.exc_info()[1]
    try:
        steps = _check_array(request.get("steps"), "steps")
        instance = _open_instance(request, answerer, answerer.open)
        outcomes: list[Any] = []
        for step in steps:
            at = len(outcomes)
            outcomes.append(answerer.write(answerer.perform(instance, answerer.read(step))))
        leaked = answerer.leaked(instance)
    except Skip as skip:
        return _skipped(request, skip)
    except BaseException as error:  # an error of the implementation is its answer
        raise_interruption(error)
        _cut_context(error, outside)
        return _errored(request, at, error)
    return {"id": request.get("id"), "outcomes": outcomes, **({} if leaked is None else {"leaked": leaked})}


def answer_history(answerer: Answerer, request: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to a `history`."""
    try:
        clients = _check_array(request.get("clients"), "clients")
        lists = [request.get("before", []), *clients, request.get("after", [])]
        parts = [
            (number, tuple(answerer.read(step) for step in _check_array(steps, f"part {number}")))
            for number, steps in enumerate(lists, start=-1)
        ]
        instance = _open_instance(request, answerer, answerer.open_shared)
        if instance is None:
            raise codec.MalformedValue(f"histories of {request['system']} are not offered")
        events = subject.play_history(lambda step: answerer.perform(instance, step), parts)
        answered = [{**event._asdict(), "outcome": answerer.write(event.outcome)} for event in events]
    except BaseException as error:  # as in a run
        raise_interruption(error)
        why = error.__cause__ if isinstance(error, subject.StepError) else error
        return _skipped(request, why) if isinstance(why, Skip) else _errored(request, None, error)
    return {"id": request.get("id"), "events": answered}


def answer_request(answerer: Answerer, request: dict[str, Any]) -> str:
    """Return the line that answers a `run` or a `history`."""
    answered = (answer_run if request["cmd"] == "run" else answer_history)(answerer, request)
    try:
        return encode_line(answered)
    except (TypeError, ValueError) as error:
        return encode_line(_errored(request, _first_unencodable(answered.get("outcomes", [])), error))


def encode_line(value: dict[str, Any]) -> str:
    """Return a message as one line of JSON."""
    return json.dumps(value, separators=(",", ":")) + "\n"


def _first_unencodable(outcomes: list[Any]) -> int | None:
    """Return the index of the first outcome that is no JSON."""
    for at, outcome in enumerate(outcomes):
        try:
            json.dumps(outcome)
        except (TypeError, ValueError):
            return at
    return None


def serve_requests(answerer: Answerer, source: IO[str] | None = None, sink: IO[str] | None = None) -> int:
    """Answer requests, by default those on stdin, until `stop` or the end of input, and return the exit code."""
    play = partial(answer_request, answerer)
    return serve_lines(lambda: answerer.start_answer, play, source, sink)


def serve_lines(
    start: Callable[[], dict[str, Any]],
    play: Callable[[dict[str, Any]], str],
    source: IO[str] | None = None,
    sink: IO[str] | None = None,
) -> int:
    """Answer `start` with the result of one function and every other request with the line that `play` returns."""
    sink = sink or sys.stdout
    for line in source or sys.stdin:
        try:
            request = json.loads(line)
        except ValueError:
            print(f"serve: not a JSON object: {line[:80]!r}", file=sys.stderr)
            return 2
        command = request.get("cmd") if type(request) is dict else None
        if command == "stop":
            return 0
        if command == "start":
            if request.get("version") != 1:
                print(f"serve: version {request.get('version')!r} is not known, expected 1", file=sys.stderr)
                return 2
            reply = encode_line(start())
        elif command in {"run", "history"}:
            reply = play(request)
        else:
            print(f"serve: unknown command {command!r}, expected start, run, history or stop", file=sys.stderr)
            return 2
        sink.write(reply)
        sink.flush()
    return 0


class TypedAnswerer:
    """The answerer for a subject of this process."""

    def __init__(self, subject: InProcessSubject) -> None:
        self._subject = subject
        self._system = subject.declaration.system
        self.start_answer: dict[str, Any] = codec.encode(subject.start_answer)

    def open(self, config: Any) -> Any:
        """Open a new, empty instance."""
        return self._subject.open(codec.decode_object(self._system.model.config, config))

    def open_shared(self, config: Any) -> Any | None:
        """Open a new, empty instance for several threads, or return None if there is none."""
        return self._subject.open_shared(codec.decode_object(self._system.model.config, config))

    def read(self, step: Any) -> Any:
        """Decode the operation of a step."""
        return codec.decode_op(self._system.ops, step)

    def perform(self, instance: Any, step: Any) -> Any:
        """Perform one operation on an instance and return its outcome."""
        return instance(step)

    def write(self, outcome: Any) -> Any:
        """Return an outcome as JSON."""
        return self._system.wire.write_outcome(outcome)

    def leaked(self, instance: Any) -> int | None:
        """Return the references that are left when a run has ended, or None if nobody counts them."""
        return self._subject.leaked(instance)


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
    arguments: ClassVar[Mapping[str, Mapping[str, str]]] = {}
    """The arguments that are `always` or `never` passed: {"usage": {"cache": "always"}}."""
    uncompared: ClassVar[Mapping[str, Sequence[str]]] = {}
    """The keys of answers that methods need not return: {"expire": ["entries", "bytes"]}."""
    sizes: ClassVar[Sequence[int]] = ()
    """Sizes of entries at which the implementation behaves in a special way."""
    order_slack: ClassVar[int] = 0
    """The number of live entries that a pass may leave before the entry that it takes; above 0 answers have `seen`."""
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
            raise codec.MalformedValue(f"unknown op {step.get('op')!r}")
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
        **{key: part for key in ("arguments", "uncompared", "sizes", "order_slack") if (part := getattr(subject, key))},
    }


class _Settings(dict[str, Any]):
    """The settings of a request; the error for one that was not sent says what to do."""

    def __missing__(self, name: str) -> Any:
        raise KeyError(f"{name} is not in this run's config, so your default applies: config.get({name!r}, DEFAULT)")


class ClassAnswerer:
    """The answerer for a class of an author, whose steps and outcomes are plain JSON values."""

    def __init__(self, subject: type[Subject]) -> None:
        """Take the class.

        Raises:
            UsageError: the class does not extend `Subject`, or names no system.
        """
        if not (isinstance(subject, type) and issubclass(subject, Subject)):
            raise errors.UsageError(f"expected a class that extends Subject, got {subject!r}")
        self.name = subject.__name__
        if not subject.system:
            raise errors.UsageError(f'{self.name} names no system; it needs a line such as: system = "pulsar-pip430"')
        for name in sorted(subject.operations):
            method = inspect.getattr_static(subject, name)
            kinds = (inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction)
            if any(is_kind(method) for is_kind in kinds):
                raise errors.UsageError(f"{self.name}.{name} is async or a generator; expected a method that returns")
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
            raise errors.UsageError(f"what {self.name} declares is not JSON: {error}") from None

    def require_methods(self, names: Iterable[str]) -> None:
        """Check that each of these names that the class has is a plain method, or None.

        Raises:
            UsageError: one is something else, such as a property, which nobody would test.
        """
        for name in sorted(names):
            attribute = inspect.getattr_static(self._subject, name, None)
            if attribute is not None and not hasattr(Subject, name) and not inspect.isfunction(attribute):
                kind = type(attribute).__name__
                raise errors.UsageError(f"{self.name}.{name} is a {kind}; expected a method that is defined by def")

    def open(self, config: Any) -> Subject:
        """Open a new, empty instance."""
        return self._subject(_Settings(config))

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


@contextlib.contextmanager
def divert_stdout() -> Iterator[None]:
    """Send to stderr what is written to stdout inside the block, also by C code, `os.write(1, ..)` and processes."""
    with contextlib.ExitStack() as restore:
        with contextlib.suppress(OSError):  # a closed stream has nothing to divert
            saved = os.dup(1)
            restore.callback(os.close, saved)
            _flush_stdout()
            os.dup2(2, 1)
            restore.callback(os.dup2, saved, 1)
            restore.callback(_flush_stdout)
        with contextlib.redirect_stdout(sys.stderr):
            yield


def _flush_stdout() -> None:
    for stream in (sys.stdout, sys.__stdout__):
        with contextlib.suppress(AttributeError, OSError, ValueError):  # there is none, or nobody reads it, or closed
            stream.flush()  # type: ignore[union-attr]


@contextlib.contextmanager
def own_stdout() -> Iterator[IO[str]]:
    """Yield a stream to stdout that nobody else has; everything else that is written to stdout goes to stderr."""
    if sys.stdout is not sys.__stdout__:  # somebody has replaced it, for instance by a text in memory
        yield sys.stdout
        return
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answers, divert_stdout():
        yield answers


def serve(subject: type[Subject]) -> int:
    """Speak the protocol for a class on stdin and stdout until `stop` or the end of input, and return the exit code.

    Output that the implementation prints goes to stderr.
    """
    try:
        with own_stdout() as answers, contextlib.redirect_stdout(sys.stderr):
            return serve_requests(ClassAnswerer(subject), sink=answers)
    except errors.EntrycacheError as error:
        print(f"serve: {error}", file=sys.stderr)
        return error.exit_code
