"""JSON to typed values and back, built once from the annotated fields of the dataclasses.

`decode_object` builds a dataclass from a JSON object, `decode_op` an operation from a step. Both are strict: a bool is
no integer, and an unknown key is an error. `encode_op` and `encode` are their inverses. Encoding leaves out absent
arguments. A field whose name is a Python keyword ends with an underscore, which its key has not. Steps may hold steps.

`build_decoder` makes the decoder of one annotation; `field_codecs` keeps those of a class. `format_json` and
`format_arguments` write values on one line for people.
"""

import dataclasses
import importlib
import json
import re
import types
import typing
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, Final, NamedTuple

from entrycache_protocol.errors import shorten
from entrycache_reference.vocabulary import ABSENT, Absent, Position, Span, StepsOf

PORTABLE_INTEGERS: Final = range(-(2**63), 2**64)
"""The integers that other languages read without loss."""

LONE_SURROGATES: Final = re.compile("[\ud800-\udfff]")
"""Half a pair of surrogates: JSON can hold it, UTF-8 cannot. Python uses it for bytes of file names too."""


class MalformedValue(ValueError):
    """A JSON value that does not have the shape of its type; the message names the place and the expectation."""


Decoder = Callable[[Any], Any]


class FieldCodec(NamedTuple):
    """One field of a dataclass: its decoder, and its default if it may be absent."""

    name: str
    decode: Decoder
    default: Any
    required: bool


def _integer(span: Span | None) -> Decoder:
    def decode(value: Any) -> int:
        if type(value) is not int:
            raise MalformedValue(f"expected an integer, got {value!r}")
        if span is not None and not span.least <= value <= span.greatest:
            raise MalformedValue(f"expected {span.least} to {span.greatest}, got {value}")
        if value not in PORTABLE_INTEGERS:
            raise MalformedValue(f"expected an integer of at most 64 bits, got {shorten(str(value), 30)}")
        return value

    return decode


def _fraction(span: Span | None) -> Decoder:
    def decode(value: Any) -> float:
        if type(value) not in {int, float}:
            raise MalformedValue(f"expected a number, got {value!r}")
        if span is not None and not span.least <= value <= span.greatest:
            raise MalformedValue(f"expected {span.least} to {span.greatest}, got {value}")
        return float(value)

    return decode


def _position(span: Span | None) -> Decoder:
    part = _integer(span)

    def decode(value: Any) -> Position:
        if type(value) is not list or len(value) != 2:
            raise MalformedValue(f"expected a position [ledger, entry], got {value!r}")
        return Position(part(value[0]), part(value[1]))

    return decode


def _flag(value: Any) -> bool:
    if type(value) is not bool:
        raise MalformedValue(f"expected true or false, got {value!r}")
    return value


def _text(value: Any) -> str:
    if type(value) is not str:
        raise MalformedValue(f"expected a string, got {value!r}")
    if not value.isascii() and LONE_SURROGATES.search(value):
        raise MalformedValue("expected a string that UTF-8 has too, got half a pair of surrogates")
    return value


def _member(kind: type[Enum]) -> Decoder:
    def decode(value: Any) -> Enum:
        try:
            return kind(value)
        except ValueError:
            raise MalformedValue(f"expected one of {[m.value for m in kind]}, got {value!r}") from None

    return decode


def _sequence(item: Decoder) -> Decoder:
    def decode(value: Any) -> tuple[Any, ...]:
        if type(value) is not list:
            raise MalformedValue(f"expected an array, got {value!r}")
        return tuple(item(part) for part in value)

    return decode


def _fixed(items: tuple[Decoder, ...]) -> Decoder:
    def decode(value: Any) -> tuple[Any, ...]:
        if type(value) is not list or len(value) != len(items):
            raise MalformedValue(f"expected an array of {len(items)}, got {value!r}")
        return tuple(item(part) for item, part in zip(items, value, strict=True))

    return decode


def _steps(ops: Mapping[str, type[Any]]) -> Decoder:
    return _sequence(lambda value: decode_op(ops, value))


def _mapping(item: Decoder) -> Decoder:
    def decode(value: Any) -> dict[str, Any]:
        if type(value) is not dict:
            raise MalformedValue(f"expected an object, got {value!r}")
        return {name: item(part) for name, part in value.items()}

    return decode


def _either(options: tuple[Decoder, ...]) -> Decoder:
    def decode(value: Any) -> Any:
        reasons = []
        for option in options:
            try:
                return option(value)
            except MalformedValue as error:
                reasons.append(str(error))
        raise MalformedValue("; or ".join(reasons))

    return decode


def _or_null(inner: Decoder) -> Decoder:
    def decode(value: Any) -> Any:
        return None if value is None else inner(value)

    return decode


_SPANNED: Final[dict[Any, Callable[[Span | None], Decoder]]] = {
    int: _integer,
    float: _fraction,
    Position: _position,
}


def build_decoder(annotation: Any) -> Decoder:
    """Build the decoder of a field's annotation."""
    span = None
    if typing.get_origin(annotation) is typing.Annotated:
        steps = next((mark for mark in annotation.__metadata__ if isinstance(mark, StepsOf)), None)
        if steps is not None:
            return _steps({op.name: op for op in importlib.import_module(steps.package).OPS})
        span = next((mark for mark in annotation.__metadata__ if isinstance(mark, Span)), None)
        annotation = annotation.__origin__
    supertype = getattr(annotation, "__supertype__", None)
    if supertype is not None:
        annotation = supertype
    origin = typing.get_origin(annotation)
    if origin in {typing.Union, types.UnionType}:
        parts = [part for part in typing.get_args(annotation) if part not in {Absent, type(None)}]
        inner = build_decoder(parts[0]) if len(parts) == 1 else _either(tuple(build_decoder(part) for part in parts))
        return _or_null(inner) if type(None) in typing.get_args(annotation) else inner
    if origin is tuple:
        items = typing.get_args(annotation)
        return (
            _sequence(build_decoder(items[0]))
            if items[-1] is ...
            else _fixed(tuple(build_decoder(item) for item in items))
        )
    if origin is dict:
        return _mapping(build_decoder(typing.get_args(annotation)[1]))
    if annotation in _SPANNED:
        return _SPANNED[annotation](span)
    if annotation is bool:
        return _flag
    if annotation is str:
        return _text
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return _member(annotation)
    if dataclasses.is_dataclass(annotation):
        return lambda value: decode_object(typing.cast(type[Any], annotation), value)
    raise TypeError(f"no JSON form is known for {annotation!r}")


JSON_NAMES: Final = {"sent_asks": "asked"}
"""The JSON keys of fields that have another name in Python."""


def json_name(name: str) -> str:
    """Return the JSON key of a field."""
    return JSON_NAMES.get(name) or name.removesuffix("_")


_FIELDS: dict[type[Any], tuple[FieldCodec, ...]] = {}


def field_codecs(kind: type[Any]) -> tuple[FieldCodec, ...]:
    """Return the fields of a dataclass with their decoders, which are built once for each class."""
    known = _FIELDS.get(kind)
    if known is not None:
        return known
    hints = typing.get_type_hints(kind, include_extras=True)
    codecs = []
    for field in dataclasses.fields(kind):
        required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        default = None if required else field.default
        codecs.append(FieldCodec(json_name(field.name), build_decoder(hints[field.name]), default, required))
    _FIELDS[kind] = tuple(codecs)
    return _FIELDS[kind]


@dataclasses.dataclass(frozen=True, slots=True)
class OrderedOutcome:
    """An outcome of a subject with `order_slack`, with what the passes of the step did, in the subject's order.

    `taken`, in JSON `seen`, holds one triple for each entry that a pass took: its cache, its position, and "removed" or
    "requeued".
    """

    outcome: Any
    taken: tuple[tuple[str, Position, str], ...]


PASS_WORDS: Final = ("removed", "requeued")
"""The words about an entry that a pass took."""


def read_seen(value: Any) -> tuple[tuple[str, Position, str], ...]:
    """Read the `seen` of an outcome.

    Raises:
        MalformedValue: it is no array of such triples.
    """
    try:
        taken: tuple[tuple[str, Position, str], ...] = _sequence(_fixed((_text, _position(None), _text)))(value)
    except MalformedValue as error:
        raise MalformedValue(f"seen: {error}") from None
    word = next((word for _, _, word in taken if word not in PASS_WORDS), None)
    if word is not None:
        raise MalformedValue(f"seen: expected one of {', '.join(PASS_WORDS)}, got {word!r}")
    return taken


_MISSING: Final = object()


def decode_object(kind: type[Any], value: Any, ignored: frozenset[str] = frozenset()) -> Any:
    """Build the dataclass `kind` from a JSON object, without the keys in `ignored`.

    Raises:
        MalformedValue: a key is missing, unknown or has the wrong type; the message names it.
    """
    if type(value) is not dict:
        raise MalformedValue(f"expected an object, got {value!r}")
    arguments = []
    known_count = 0
    missing = name = ""
    try:
        for name, decode, default, required in _FIELDS.get(kind) or field_codecs(kind):
            part = value.get(name, _MISSING)
            if part is not _MISSING:
                known_count += 1
                arguments.append(decode(part))
            elif required:
                missing = name
                break
            else:
                arguments.append(default)
    except MalformedValue as error:
        raise MalformedValue(f"{name}: {error}") from None
    if missing:
        raise MalformedValue(f"the key {missing!r} is missing")
    if known_count != len(value):
        unknown = sorted(value.keys() - {field.name for field in field_codecs(kind)} - ignored)
        if unknown:
            raise MalformedValue(f"unknown key {unknown[0]!r}")
    return kind(*arguments)


def decode_op(ops: Mapping[str, type[Any]], value: Any) -> Any:
    """Build the operation of one step of a case.

    Raises:
        MalformedValue: there is no such operation, or it does not take these arguments.
    """
    if type(value) is not dict:
        raise MalformedValue(f"expected a step, got {value!r}")
    arguments = dict(value)
    name = arguments.pop("op", None)
    if type(name) is not str or name not in ops:
        raise MalformedValue(f"unknown op {name!r}; expected one of {', '.join(ops)}")
    try:
        return decode_object(ops[name], arguments)
    except MalformedValue as error:
        raise MalformedValue(f"op {name}: {error}") from None


def encode_op(op: Any) -> dict[str, Any]:
    """Return the JSON object of a step."""
    kind = type(op)
    value: dict[str, Any] = {"op": kind.name}
    if kind not in _SPECIAL:
        _SPECIAL[kind] = _is_special(kind)
    if _SPECIAL[kind]:
        return value | _encoded_fields(op)
    for name in kind.__slots__:
        part = getattr(op, name)
        if part is not ABSENT:
            value[name] = part
    return value


_SPECIAL: dict[type[Any], bool] = {}


def _is_special(kind: type[Any]) -> bool:
    """Return whether an operation has renamed fields, or fields that hold objects or members of an enum."""
    hints = typing.get_type_hints(kind, include_extras=True)
    return any(json_name(name) != name or _holds_objects(hints[name]) for name in kind.__slots__)


def _holds_objects(annotation: Any) -> bool:
    parts = typing.get_args(annotation)
    holds = any(isinstance(mark, StepsOf) for mark in getattr(annotation, "__metadata__", ()))
    holds = holds or (isinstance(annotation, type) and issubclass(annotation, Enum) and annotation is not type(ABSENT))
    return holds or dataclasses.is_dataclass(annotation) or any(_holds_objects(part) for part in parts)


def _encoded_fields(value: Any) -> dict[str, Any]:
    """Return the fields that are not absent, with the steps and objects that they hold."""
    parts = ((name, getattr(value, name)) for name in type(value).__slots__)
    return {json_name(name): _encoded_part(part) for name, part in parts if part is not ABSENT}


def _encoded_part(part: Any) -> Any:
    if isinstance(part, tuple):
        return [_encoded_part(item) for item in part]
    if dataclasses.is_dataclass(part):
        return encode_op(part) if hasattr(part, "level") else _encoded_fields(part)
    return part.value if isinstance(part, Enum) else part


def encode(value: Any) -> Any:
    """Return the JSON form of an outcome, a configuration or a part of them."""
    if isinstance(value, Enum):
        return value.value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {name: encode(getattr(value, name)) for name in value.__dataclass_fields__}
    if isinstance(value, dict):
        return {name: encode(part) for name, part in value.items()}
    if isinstance(value, tuple | list):
        return [encode(part) for part in value]
    return value


def format_json(value: Any) -> str:
    """Write a value as JSON on one line."""
    return json.dumps(value, separators=(", ", ": "))


def format_arguments(op: Any) -> str:
    """Write the arguments of a step on one line, as people write them."""
    value = encode_op(op)
    del value["op"]
    return "  ".join(f"{name}={json.dumps(part)}" for name, part in value.items())
