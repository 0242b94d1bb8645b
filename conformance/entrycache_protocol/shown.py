"""Text from elsewhere as it can stand in a line: printable and short."""

from __future__ import annotations


def cut(text: str, length: int) -> str:
    """The text, or its beginning and a mark that there was more."""
    return text if len(text) <= length else text[:length] + " .."


def printable(text: str) -> str:
    """The text with everything escaped that a terminal would not show as one character of one line."""
    return "".join(part if part.isprintable() else ascii(part)[1:-1] for part in text)


def shown(value: object, length: int = 80) -> str:
    """A value from a file, as an error names it; one that Python itself would not write out is told by its type."""
    try:
        return cut(printable(repr(value)), length)
    except (RecursionError, ValueError):
        return f"a value of type {type(value).__name__}"
