"""Answers about leaks."""

from __future__ import annotations

from typing import Any

from .speaker import KINDS, Kind, Speaker


def leaks(name: str, said: dict[str, Any], code: int = 3, declared: bool = True) -> None:
    def misbehave(speaker: Speaker) -> None:
        speaker.offer["leaks"] = declared
        right = speaker.answer
        speaker.answer = lambda request: {**right(request), **said}

    KINDS[f"leaked-{name}"] = Kind(misbehave, code, "R-COUNT-7" if code == 1 else "")


leaks("missing", {})
leaks("not-declared", {"leaked": 0}, declared=False)
for name, said in {"null": None, "string": "0", "true": True, "float": 0.0, "negative": -1, "list": []}.items():
    leaks(name, {"leaked": said})
leaks("positive", {"leaked": 3}, 1)
leaks("none", {"leaked": 0}, 0)
