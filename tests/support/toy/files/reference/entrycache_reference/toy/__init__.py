"""System `toy`: a set of keys with a limit.

Theory of operation. One machine: the set. `put` brings in a key while there is room, `has` asks for one. Nothing ever
leaves, nothing is done besides.
"""

from __future__ import annotations

from entrycache_reference.toy.config import Config, Variants
from entrycache_reference.toy.state import Row, State, Step, initial
from entrycache_reference.toy.step import step

NAME = "toy"

__all__ = ["NAME", "Config", "Row", "State", "Step", "Variants", "initial", "step"]
