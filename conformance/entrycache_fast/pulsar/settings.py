"""Checks of the settings."""

from __future__ import annotations


def check_numbers(**numbers: int | None) -> None:
    """Refuse numbers below 0; None: not given.

    Raises:
        ValueError: one is below 0; it is named.
    """
    for name, number in numbers.items():
        if number is not None and number < 0:
            raise ValueError(f"{name} must be 0 or more, got {number}")


def check_watermark(watermark: float | None) -> None:
    """Refuse a share outside 0 to 1; None: not given.

    Raises:
        ValueError: it lies outside.
    """
    if watermark is not None and not 0 <= watermark <= 1:
        raise ValueError(f"watermark must lie between 0 and 1, got {watermark}")


def check_choice(name: str, given: str, *choices: str) -> None:
    """Refuse a word that is not one of the choices.

    Raises:
        ValueError: it is not.
    """
    if given not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}, got {given!r}")
