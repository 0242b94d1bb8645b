"""Changes of a text or of bytes that a program, a disk or an editor might make, and some that none would."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from random import Random
from typing import Any, Final

RAW: Final = "\N{LARGE CIRCLE}raw "
"""The start of a string that stands for itself in the text, without quotes."""

AGAIN: Final = "\N{LARGE CIRCLE}again "
"""The start of a key that occurs a second time."""

UNUSUAL_VALUES: Final = (
    *(None, True, False, 0, -1, 1, 2**31 - 1, 2**31, -(2**53), 2**53, 2**63 - 1, 2**63, -(2**63), 2**64, 10**30),
    *(
        0.5,
        -0.0,
        1.5,
        1e308,
        -1e308,
        5e-324,
        "",
        " ",
        "x",
        "0",
        "true",
        "\ud800",
        "\x00",
        "\x1b[31m",
        "a\nb",
        "/dev/zero",
    ),
    *("[/red]", "9" * 5_000, "é" * 3_000, "R-EVICT-3", "pulsar-pip430", "kafka-streams", [], {}, [[]], [None], [{}]),
    *(
        {"": 0},
        {"op": "get"},
        [1, 2, 3],
        [[1, 0]] * 100,
        RAW + "NaN",
        RAW + "Infinity",
        RAW + "-Infinity",
        RAW + "1e400",
    ),
    *(RAW + "9" * 5_000, RAW + "1" * 400, RAW + "-1e-400", RAW + "[" * 150 + "]" * 150, RAW + "[" * 50_000),
    *(RAW + '{"a":' * 2_000 + "1" + "}" * 2_000, RAW + "nul", RAW + "'x'", RAW + "0x10", RAW + "01", RAW + "1_000"),
    *(RAW + '"\\ud800"', RAW + '"\\udc00\\ud800"', RAW + '"\\x41"', RAW + '"\t"', RAW + "", RAW + "1,", RAW + "//x"),
)
"""Values that replace another one."""


def places(value: Any) -> list[tuple[Any, Any]]:
    """Return every object or array with one of its keys or indices."""
    holders: list[tuple[Any, Any]] = []
    for name in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        holders += [(value, name), *places(value[name])]
    return holders


def change_json(value: Any, chance: Random) -> Any:
    """Make one to three changes of a JSON value."""
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        holders = places(value)
        if not holders or chance.random() < 0.02:
            return chance.choice(UNUSUAL_VALUES)
        change = chance.choice(CHANGES)
        holder, name = chance.choice(holders)
        change(holder, name, chance)
    return value


def _replace(holder: Any, name: Any, chance: Random) -> None:
    holder[name] = json.loads(json.dumps(chance.choice(UNUSUAL_VALUES)))


def _nudge(holder: Any, name: Any, chance: Random) -> None:
    value = holder[name]
    if type(value) in {int, float}:
        holder[name] = chance.choice(
            (value + 1, value - 1, -value, value * 1000, float(value), str(value), value + 0.5)
        )
    elif type(value) is str:
        at = chance.randrange(len(value) + 1)
        holder[name] = (
            value[:at] + chance.choice(("\x00", "\u2028", "\ud83d", "'''", '"', "\\", "\x85", "é")) + value[at:]
        )
    elif type(value) is bool:
        holder[name] = not value


def _delete(holder: Any, name: Any, chance: Random) -> None:
    del holder[name]


def _again(holder: Any, name: Any, chance: Random) -> None:
    if isinstance(holder, dict):
        holder[AGAIN + str(name)] = holder[name] if chance.random() < 0.5 else chance.choice((0, "x", None))
    else:
        holder.insert(name, holder[name])


def _rename(holder: Any, name: Any, chance: Random) -> None:
    if isinstance(holder, dict):
        holder[chance.choice((f"{name}s", str(name).upper(), "", "x" * 3_000, "\ud800", "\x1b"))] = holder.pop(name)


def _wrap(holder: Any, name: Any, chance: Random) -> None:
    holder[name] = chance.choice(([holder[name]], {"x": holder[name]}, json.dumps(holder[name]), [holder[name]] * 50))


def _swap(holder: Any, name: Any, chance: Random) -> None:
    names = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
    other = chance.choice(names)
    holder[name], holder[other] = holder[other], holder[name]


HALVES: Final = ("\ud800", "x\udfffx", RAW + '"\\uD83D"', RAW + '"a\\udc00\\ud800"')


def _halve(holder: Any, name: Any, chance: Random) -> None:
    """Put half a surrogate pair in place of a string, if there is one."""
    texts = [(inside, key) for inside, key in [(holder, name), *places(holder)] if type(inside[key]) is str]
    inside, key = chance.choice(texts or [(holder, name)])
    inside[key] = chance.choice(HALVES)


CHANGES: Final[tuple[Callable[[Any, Any, Random], None], ...]] = (
    *(_replace, _replace, _replace, _nudge, _nudge, _delete, _again, _rename, _wrap, _swap, _halve),
)


def text_of(value: Any, chance: Random) -> str:
    """Return the text of a changed value; raw strings stand for themselves."""
    text = json.dumps(value, ensure_ascii=chance.random() < 0.8, indent=chance.choice((None, None, 1)))
    mark = f"(?:{re.escape(RAW)}|{re.escape(json.dumps(RAW)[1:-1])})"
    text = re.sub(f'"{mark}((?:[^"\\\\]|\\\\.)*)"', lambda match: json.loads(f'"{match[1]}"'), text)
    return text.replace(AGAIN, "").replace(json.dumps(AGAIN)[1:-1], "")


def encoded(text: str) -> bytes:
    """Return the text in UTF-8, with half surrogates written as careless programs do."""
    return text.encode("utf-8", "surrogatepass")


def change_bytes(raw: bytes, chance: Random) -> bytes:
    """Change bytes as a file may change in transit."""
    at, end = sorted(chance.randrange(len(raw) + 1) for _ in range(2))
    return chance.choice(
        (
            lambda: raw[:at],
            lambda: raw[at:],
            lambda: raw[:at] + raw[end:],
            lambda: raw[:end] + raw[at:],
            lambda: raw[:at] + bytes([chance.randrange(256)]) + raw[at + 1 :],
            lambda: raw[:at] + chance.choice((b"\0", b"\xff", b"\xc3\x28", b"\xed\xa0\x80", b"\x1b[2J")) + raw[at:],
            lambda: b"\xef\xbb\xbf" + raw,
            lambda: raw.replace(b"\n", b"\r\n"),
            lambda: raw.replace(b"\n", b"\r"),
            lambda: raw.decode("utf-8", "replace").encode("utf-16"),
            lambda: raw.decode("utf-8", "replace").encode("latin-1", "replace"),
            lambda: raw * 2,
            lambda: b"\n" * 1_000 + raw,
            lambda: raw + bytes(chance.randrange(256) for _ in range(64)),
            lambda: b"",
            lambda: b"\0" * 4_096,
        )
    )()


def change_lines(text: str, chance: Random, values: tuple[str, ...]) -> str:
    """Change a text whose lines set a name to a value."""
    lines = text.split("\n")
    for _ in range(chance.choice((1, 1, 2, 3))):
        at = chance.randrange(len(lines))
        name, equals, value = lines[at].partition("=")
        value_taken = chance.choice(values)
        lines[at : at + 1] = chance.choice(
            (
                [f"{name}= {value_taken}" if equals else value_taken],
                [f"{name}= {value_taken}" if equals else value_taken],
                [f"{name}={value[: chance.randrange(len(value) + 1)]}"],
                [],
                [lines[at], lines[at]],
                [lines[at], chance.choice(lines)],
                [f"{name.strip()}x={value}"],
                [f"{value_taken}={value}"],
                [lines[at] + "\\"],
                [lines[at].upper()],
                ["\t" + lines[at] + " # x"],
            )
        )
    return "\n".join(lines)
