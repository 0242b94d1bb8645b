"""What is odd beside names and positions: limits whose products are no whole numbers, sizes, entries in a row."""

from __future__ import annotations

from typing import Final

LIMITS: Final = (
    *((100, 0.58), (2**33, 0.5), (50, 0.58), (90, 0.7), (2**33, 0.9), (100, 0.57), (170, 0.7), (100, 0.29)),
    *((180, 0.7), (2**24, 0.9)),
)
"""Limits with their watermarks. The small products lie just below a whole number as IEEE products, in decimal at it."""

SIZES: Final = (1, 255, 256, 2**31 - 1, 65_535, 65_536, 2**24 + 1, 2**31 - 1, 0, -1, 128, 32_768, 2**30)

ROWS: Final = (8, 9, 16, 17, 18, 32, 33, 64, 65)
"""How many entries are offered in a row: as many as tables of implementations often hold, and one more."""
