"""Answers to a run that are wrong as bytes."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from .misdeeds import deep, die, flood, forever
from .speaker import KINDS, Kind, Speaker, kind


def run_bytes(
    name: str, make: Callable[[bytes], bytes], then: Callable[[], None] = lambda: None, timeout: float = 10
) -> None:
    """`make` makes the bytes that are sent, line end included, from the right line without one."""

    def misbehave(speaker: Speaker) -> None:
        def on_run(request: dict[str, Any]) -> None:
            speaker.raw(make(json.dumps(speaker.answer(request)).encode()))
            then()

        speaker.on_run = on_run

    assert f"run-{name}" not in KINDS, name
    KINDS[f"run-{name}"] = Kind(misbehave, 3, timeout=timeout)


run_bytes("half-line-then-silent", lambda line: line[:9], forever, 1)
run_bytes("half-line-then-exit", lambda line: line[:9], lambda: die(0))
run_bytes("no-newline-then-silent", lambda line: line, forever, 1)
run_bytes("no-newline-then-exit", lambda line: line, lambda: die(0))
run_bytes("without-end", lambda line: b"", lambda: flood(b"x" * 65536))
run_bytes("floods-lines", lambda line: line + b"\n", lambda: flood(b"debug\n" * 1000))
run_bytes("floods-right-answers", lambda line: (line + b"\n") * 5_000)
run_bytes("twice", lambda line: line + b"\n" + line + b"\n")
run_bytes("id-told-twice", lambda line: b'{"id": 0, ' + line[1:] + b"\n")
run_bytes("outcomes-told-twice", lambda line: line[:-1] + b', "outcomes": []}\n')
run_bytes("hit-told-twice", lambda line: line.replace(b'{"hit":', b'{"hit": true, "hit":') + b"\n")
run_bytes("empty-line-before", lambda line: b"\n" + line + b"\n")
run_bytes("empty-line-after", lambda line: line + b"\n\n")
run_bytes("debug-line-before", lambda line: b"inserting ...\n" + line + b"\n")
run_bytes("debug-line-after", lambda line: line + b"\nDEBUG done\n")
run_bytes("debug-on-the-same-line", lambda line: b"DEBUG " + line + b"\n")
run_bytes("bom", lambda line: b"\xef\xbb\xbf" + line + b"\n")
run_bytes("utf-16", lambda line: line.decode().encode("utf-16") + b"\n\0")
run_bytes("binary", lambda line: bytes(range(255, -1, -1)) + b"\n")
run_bytes("null-bytes", lambda line: b"\0" * 100 + line + b"\n")
run_bytes("not-utf-8", lambda line: line.replace(b"outcomes", b"\xff\xfe") + b"\n")
run_bytes("two-objects-a-line", lambda line: line + b" " + line + b"\n")
run_bytes("trailing-comma", lambda line: line[:-1] + b",}\n")
run_bytes("single-quotes", lambda line: line.replace(b'"', b"'") + b"\n")
run_bytes("integer-of-5000-digits", lambda line: b'{"id":' + b"9" * 5000 + b"}\n")
for depth in (100, 900, 950, 960, 970, 980, 990, 100_000):
    run_bytes(f"nested-{depth}", lambda line, depth=depth: deep(depth) + b"\n")
    run_bytes(
        f"outcomes-nested-{depth}",
        lambda line, depth=depth: line.partition(b'"outcomes"')[0] + b'"outcomes": ' + deep(depth) + b"}\n",
    )


@kind("run-answer-before-asked", 3)
def _(speaker: Speaker) -> None:
    def on_start() -> None:
        speaker.write(speaker.hello)
        for number in range(3):
            speaker.write({"id": number, "outcomes": []})

    speaker.on_start = on_start


@kind("run-answers-one-late", 3)
def _(speaker: Speaker) -> None:
    late: list[Any] = [{"id": 0, "outcomes": []}]
    right = speaker.answer

    def answer(request: dict[str, Any]) -> Any:
        late.append(right(request))
        return late.pop(0)

    speaker.answer = answer
