"""What a system's makers say of one case before its first step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Plan(NamedTuple):
    """The configuration of one case, its operations, each as often as it weighs, and the maker of their arguments.

    `usual_steps`: one in so many steps is the last one; `make` takes an operation's name and the reference's state.
    `final_queries` gives the operations that a case ends with, from its last state: what a fault has left behind shows there.
    """

    config: Any
    menu: tuple[str, ...]
    steps_max: int
    usual_steps: int
    make: Callable[[str, Any], Any]
    final_queries: Callable[[Any], tuple[Any, ...]] = lambda state: ()
