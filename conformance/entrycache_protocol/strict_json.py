"""Strict JSON: values that every reader understands in the same way, and the shape of files.

`parse_json` accepts each key once, numbers of at most 64 bits, strings that UTF-8 has, and a bounded depth. Everything
else is an `AmbiguousJson` error. `check_json_value` holds a value of another format, such as TOML, to the same limits.

`check_shape` holds a value from a file to a JSON Schema; `object_shape`, `mapping_shape`, `list_shape` and
`nullable_shape` build such schemas.

`seal_json` adds a digest of its content to an object, and `is_sealed` compares the two. A digest has no key: it shows
an edit by hand, and not a forgery.
"""

import hashlib
import json
import re
from typing import Any, Final, NoReturn

from entrycache_protocol import codec, errors

MAX_DEPTH: Final = 100
"""The most levels of nested arrays and objects; a case with nested listeners has some twenty."""

_MAYBE_SURROGATES: Final = re.compile(r"(?i)\\ud[89a-f]|[\ud800-\udfff]")


class AmbiguousJson(ValueError):
    """A text that not every reader of JSON accepts, or understands in the same way."""


def reject_constant(name: str) -> NoReturn:
    """Refuse NaN and Infinity."""
    raise AmbiguousJson(f"{name} is not JSON")


def build_object(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build an object from its members, each key once."""
    result = dict(members)
    if len(result) != len(members):
        keys: set[str] = set()
        twice = next(key for key, _ in members if key in keys or keys.add(key))  # type: ignore[func-returns-value]
        raise AmbiguousJson(f"the key {errors.shorten(ascii(twice), 60)} twice in one object")
    return result


def _integer(digits: str) -> int:
    if len(digits) > 20 or (number := int(digits)) not in codec.PORTABLE_INTEGERS:
        raise AmbiguousJson(f"the number {errors.shorten(digits, 30)} has more than 64 bits")
    return number


def _fraction(digits: str) -> float:
    number = float(digits)
    if number - number != 0:
        raise AmbiguousJson(f"the number {errors.shorten(digits, 30)} is too large")
    return number


_JSON: Final = json.JSONDecoder(
    parse_constant=reject_constant, object_pairs_hook=build_object, parse_int=_integer, parse_float=_fraction
)


def parse_json(text: str, may_have_halves: bool = False) -> Any:
    """Parse a text; with `may_have_halves` its strings come from subjects and are only displayed.

    Raises:
        ValueError: the text is no JSON, or ambiguous JSON; the message says why.
    """
    try:
        value = _JSON.decode(text)
    except RecursionError:
        value = None
        deep = True
    else:
        deep = is_deeper(value, MAX_DEPTH)
    if deep:
        raise AmbiguousJson(f"arrays and objects stand more than {MAX_DEPTH} deep within one another")
    if not may_have_halves and _MAYBE_SURROGATES.search(text) and _has_lone_surrogates(value):
        raise AmbiguousJson("a string holds half a pair of surrogates, which UTF-8 does not have")
    return value


def _has_lone_surrogates(value: Any) -> bool:
    """Return whether a string or a key holds half a pair of surrogates."""
    if type(value) is str:
        return codec.LONE_SURROGATES.search(value) is not None
    if type(value) is dict:
        return any(_has_lone_surrogates(part) for member in value.items() for part in member)
    return type(value) is list and any(map(_has_lone_surrogates, value))


def parse_json_text(text: str, where: str) -> Any:
    """Parse the text of a file.

    Raises:
        UsageError: see `parse_json`; the line begins with `where`.
    """
    try:
        return parse_json(text)
    except ValueError as error:
        raise errors.UsageError(f"{where} is not JSON: {error}") from None


def is_same_json(one: Any, other: Any) -> bool:
    """Return whether two values are the same JSON; Python alone would take `true` and `1.0` for 1."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def is_deeper(value: Any, most: int) -> bool:
    """Return whether arrays and objects are nested deeper than `most` levels."""
    level = [value]
    for _ in range(most + 1):
        level = [part for each in level if type(each) in {dict, list} for part in _parts(each)]
        if not level:
            return False
    return True


def _parts(value: Any) -> Any:
    return value.values() if type(value) is dict else value


def check_json_value(value: Any, where: str) -> Any:
    """Return a value of another format if JSON can hold it too.

    Raises:
        UsageError: the value is nested too deeply, or holds a date, NaN, or a number of more than 64 bits.
    """
    if is_deeper(value, MAX_DEPTH):
        raise errors.UsageError(f"{where}: arrays and tables stand more than {MAX_DEPTH} deep within one another")
    level = [value]
    while level:
        for each in level:
            kind = type(each)
            is_foreign = (
                each not in codec.PORTABLE_INTEGERS if kind is int else each - each != 0 if kind is float else False
            )
            if is_foreign or kind not in {dict, list, str, bool, int, float}:
                raise errors.UsageError(
                    f"{where}: {errors.describe_value(each)} is no value that JSON has; expected one, or JSON text"
                )
        level = [part for each in level if type(each) in {dict, list} for part in _parts(each)]
    return value


Schema = dict[str, Any]

TEXT: Final[Schema] = {"type": "string"}
TEXTS: Final[Schema] = {"type": "array", "items": TEXT}
COUNT: Final[Schema] = {"type": "integer", "minimum": 0}
NUMBER: Final[Schema] = {"type": "number"}


def object_shape(properties: Schema, *optional: str) -> Schema:
    """Return the schema of an object with these keys; the optional ones may be missing, and others may be there."""
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in optional],
    }


def mapping_shape(schema: Schema) -> Schema:
    """Return the schema of an object whose values all have one schema."""
    return {"type": "object", "additionalProperties": schema}


def list_shape(schema: Schema) -> Schema:
    """Return the schema of an array whose items all have one schema."""
    return {"type": "array", "items": schema}


def nullable_shape(schema: Schema) -> Schema:
    """Return the schema of a value that may be null."""
    return {"anyOf": [schema, {"type": "null"}]}


def check_shape(value: Any, schema: Schema, where: str) -> None:
    """Check a value against a schema.

    Raises:
        UsageError: the value does not fit; the line says where, and what was expected.
    """
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - slow to import
    from jsonschema.exceptions import best_match  # noqa: PLC0415

    error = best_match(Draft202012Validator(schema).iter_errors(value))
    if error is not None:
        raise errors.UsageError(
            f"{where}: {_shorten_message(error.message)} "
            f"at {errors.shorten(errors.escape_unprintable(error.json_path), 80)}"
        )


def _shorten_message(message: str) -> str:
    """Shorten a message of jsonschema: it begins with the value, which may be long, and ends with the expectation."""
    text = errors.escape_unprintable(message)
    return text if len(text) <= 200 else f"{text[:100]} .. {text[-100:]}"


DIGEST: Final = "digest"
"""The key of an object that holds the digest of the rest."""

UNSEALED_KEYS: Final = frozenset({DIGEST, "seconds"})
"""The keys that no digest covers: two runs of the same cases differ in their duration."""


def seal_json(value: dict[str, Any]) -> dict[str, Any]:
    """Return the object with the digest of its content; an earlier digest is replaced."""
    return {**value, DIGEST: _compute_digest(value)}


def is_sealed(value: dict[str, Any]) -> bool:
    """Return whether the object has no digest, or that of its content."""
    return DIGEST not in value or value[DIGEST] == _compute_digest(value)


def _compute_digest(value: Any) -> str:
    text = json.dumps(_sealed_part(value), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _sealed_part(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sealed_part(part) for key, part in value.items() if key not in UNSEALED_KEYS}
    return [_sealed_part(part) for part in value] if isinstance(value, list | tuple) else value
