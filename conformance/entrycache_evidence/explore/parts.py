"""What a kind of world is explored with."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

from entrycache_protocol.system import AnySystem


class Canon(Protocol):
    """When two states of a world are the same, and whether a step is gone on from."""

    def key(self, state: Any) -> Hashable:
        """Equal for the same state."""

    def settled(self, state: Any) -> Any:
        """The representative of its kind."""

    def follows(self, step: Any) -> bool:
        """Whether the state keeps within the bounds."""


class Parts(NamedTuple):
    """The system of a world, what may happen in a state, when two states are the same, and the steps it begins with."""

    system: AnySystem
    events: Callable[[Any], Iterable[Any]]
    canon: Canon
    start: tuple[Any, ...] = ()


class AnyWorld(Protocol):
    """The bounds of an exploration; `depth` None: to the end."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def config(self) -> Any:
        """The configuration."""

    @property
    def depth(self) -> int | None:
        """The most steps."""

    def parts(self) -> Parts:
        """What it is explored with."""

    def told(self) -> str:
        """Its bounds in words."""


World = TypeVar("World", bound=AnyWorld)


def within(world: World, steps: int | None) -> World:
    """The world, within at most so many steps; None: as far as it goes."""
    if steps is None:
        return world
    return replace(world, depth=steps if world.depth is None else min(world.depth, steps))


def bounded(worlds: Iterable[AnyWorld], most: Mapping[str, int]) -> tuple[AnyWorld, ...]:
    """These worlds, those that are named in `most` within so many steps."""
    return tuple(within(world, most.get(world.name)) for world in worlds)
