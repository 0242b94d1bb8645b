"""The checks of the arguments of a broker cache: a wrong type raises TypeError, a wrong value ValueError.

Every call checks before it changes anything. Each message names the argument, what was expected and what was given.
"""

from collections.abc import Callable


def check_integers(**numbers: int) -> None:
    """Refuse what is no integer.

    Raises:
        TypeError: an argument is no int; the message names it.
    """
    for name, number in numbers.items():
        if not isinstance(number, int):
            raise TypeError(f"{name} must be an int, got {number!r}")


def check_numbers(**numbers: int) -> None:
    """Refuse what is no integer, and integers below 0.

    Raises:
        TypeError: an argument is no int; the message names it.
        ValueError: a number is below 0; the message names it.
    """
    check_integers(**numbers)
    for name, number in numbers.items():
        if number < 0:
            raise ValueError(f"{name} must be 0 or more, got {number}")


def check_flags(**flags: bool) -> None:
    """Refuse what is neither True nor False.

    Raises:
        TypeError: an argument is no bool; the message names it.
    """
    for name, flag in flags.items():
        if not isinstance(flag, bool):
            raise TypeError(f"{name} must be True or False, got {flag!r}")


def check_watermark(watermark: float) -> None:
    """Refuse a watermark outside 0 to 1.

    Raises:
        TypeError: the watermark is no number.
        ValueError: the watermark lies outside.
    """
    if not isinstance(watermark, (int, float)):
        raise TypeError(f"watermark must be a number, got {watermark!r}")
    if not 0 <= watermark <= 1:
        raise ValueError(f"watermark must lie between 0 and 1, got {watermark}")


def check_choice(name: str, given: str, *choices: str) -> None:
    """Refuse a value that is not one of the choices.

    Raises:
        TypeError: the value is no str.
        ValueError: the value is no choice.
    """
    check_names(**{name: given})
    if given not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}, got {given!r}")


def check_functions(**functions: Callable[..., object]) -> None:
    """Refuse what cannot be called.

    Raises:
        TypeError: an argument is no function; the message names it.
    """
    for name, function in functions.items():
        if not callable(function):
            raise TypeError(f"{name} must be a function, got {function!r}")


def check_names(**names: str) -> None:
    """Refuse what is no string.

    Raises:
        TypeError: an argument is no str; the message names it.
    """
    for name, given in names.items():
        if not isinstance(given, str):
            raise TypeError(f"{name} must be a str, got {given!r}")


def is_position(given: object) -> bool:
    """Return whether this is a ledger and a number in it."""
    return isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], int) and isinstance(given[1], int)


def check_positions(**positions: tuple[int, int]) -> None:
    """Refuse what is no position.

    Raises:
        TypeError: an argument is no tuple of two integers; the message names it.
    """
    for name, position in positions.items():
        if not is_position(position):
            raise TypeError(f"{name} must be a position (ledger, entry) of two ints, got {position!r}")


def check_offer(ledger: int, entry: int, size_bytes: int) -> None:
    """Refuse an entry that no cache can take.

    Raises:
        TypeError: an argument is no int; the message names it.
        ValueError: the size is below 0.
    """
    check_integers(ledger=ledger, entry=entry)
    check_numbers(size_bytes=size_bytes)
