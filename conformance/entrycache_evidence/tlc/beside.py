"""A world of the explorer with the TLA+ module that is run beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from entrycache_evidence.explore.parts import AnyWorld
from entrycache_evidence.tlc.graph import Graph, Look, difference, explored, graph
from entrycache_evidence.tlc.module import Module, check
from entrycache_faults.model import Model
from entrycache_protocol.errors import OurError


class Beside(NamedTuple):
    """A world, how its states read, and the module with the same constants."""

    world: AnyWorld
    look: Look
    module: Module

    def found(self, changed: Mapping[str, str] | None = None) -> Graph:
        """What TLC finds, with other texts of modules where some are given.

        Raises:
            MissingPrerequisite: Java, Maven or the jar are not there.
            OurError: the module cannot be evaluated, or breaks an invariant of its own.
        """
        said = check(self.module, changed)
        if said.broken:
            raise OurError(f"{self.module.name} in {self.world.name!r}: {said.broken} is broken")
        return graph(said.edges)

    def differs(self, found: Graph, model: Model | None = None) -> str:
        """The first difference from what the explorer finds by the reference, or by a model; empty: none."""
        return difference(found, explored(self.world, self.look, model), self.look.events)
