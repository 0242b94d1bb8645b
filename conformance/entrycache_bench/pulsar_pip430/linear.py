"""The peer of the fast cache's cursors: one sorted linked list, brought up to date when somebody asks.

Written for this measurement after the description of the approach: moves are only noted; a rank or the
slowest position first applies them, by sorting anew where half of the cursors or more have moved, else by
walking each moved cursor along the list. Ranks stand in the nodes.
"""

from __future__ import annotations

from collections.abc import Iterable


class Node:
    """One cursor in the list, with the number of cursors at or before it."""

    __slots__ = ("after", "before", "position", "rank", "wanted")

    def __init__(self, position: int) -> None:
        self.position = position
        self.wanted = position
        self.rank = 0
        self.before: Node | None = None
        self.after: Node | None = None


class LinearCursors:
    """Cursors in a linked list, ascending by position."""

    def __init__(self) -> None:
        self._nodes: dict[str, Node] = {}
        self._moved: list[Node] = []
        self._head: Node | None = None

    def add_all(self, cursors: Iterable[tuple[str, int]]) -> None:
        """Let cursors come in."""
        self._nodes.update((cursor, Node(position)) for cursor, position in cursors)
        self._sort()

    def move(self, cursor: str, position: int) -> None:
        """Note where a cursor stands from now on."""
        node = self._nodes[cursor]
        if node.wanted == node.position:
            self._moved.append(node)
        node.wanted = position

    def rank(self, cursor: str) -> int:
        """The cursors at or before this one, itself included."""
        self._apply()
        return self._nodes[cursor].rank

    def slowest(self) -> int | None:
        """The lowest position."""
        self._apply()
        return None if self._head is None else self._head.position

    def _apply(self) -> None:
        """Bring the list up to date."""
        if not self._moved:
            return
        if len(self._moved) >= len(self._nodes) // 2:
            self._sort()
            return
        for node in sorted(self._moved, key=lambda moved: -moved.position):
            if node.wanted > node.position:
                self._walk_up(node)
            elif node.wanted < node.position:
                self._walk_down(node)
        self._moved.clear()

    def _sort(self) -> None:
        """Build the list anew."""
        for node in self._moved:
            node.position = node.wanted
        self._moved.clear()
        ordered = sorted(self._nodes.values(), key=lambda node: node.position)
        before: Node | None = None
        for node in ordered:
            node.before = before
            if before is not None:
                before.after = node
            before = node
        if before is not None:
            before.after = None
        self._head = ordered[0] if ordered else None
        rank = len(ordered)
        for at in range(len(ordered) - 1, -1, -1):
            if at + 1 < len(ordered) and ordered[at].position != ordered[at + 1].position:
                rank = at + 1
            ordered[at].rank = rank

    def _walk_up(self, node: Node) -> None:
        """Move a node towards the tail; each one that it passes, and each that stood beside it, loses one."""
        beside = node.before
        while beside is not None and beside.position == node.position:
            beside.rank -= 1
            beside = beside.before
        last, at = node.before, node.after
        self._unlink(node)
        rank = node.rank - 1
        while at is not None and at.position < node.wanted:
            at.rank -= 1
            last, rank = at, max(rank, at.rank)
            at = at.after
        self._link(node, last, at)
        node.position = node.wanted
        node.rank = at.rank if at is not None and at.position == node.position else rank + 1

    def _walk_down(self, node: Node) -> None:
        """Move a node towards the head; each one below it that it passes or comes to stand beside gains one."""
        last, at = node.after, node.before
        self._unlink(node)
        while at is not None and at.position > node.wanted:
            if at.position < node.position:
                at.rank += 1
            last, at = at, at.before
        self._link(node, at, last)
        node.position = node.wanted
        rank = 1 if at is None else at.rank + 1
        node.rank = rank
        while at is not None and at.position == node.position:
            at.rank = rank
            at = at.before

    def _unlink(self, node: Node) -> None:
        """Take a node out of the chain."""
        if node.before is None:
            self._head = node.after
        else:
            node.before.after = node.after
        if node.after is not None:
            node.after.before = node.before

    def _link(self, node: Node, before: Node | None, after: Node | None) -> None:
        """Put a node between two neighbours."""
        node.before, node.after = before, after
        if before is None:
            self._head = node
        else:
            before.after = node
        if after is not None:
            after.before = node
