"""System `pulsar-segmented`: the shared broker cache of PIP-174, which was proposed and never merged.

Theory of operation. One machine: a ring of segments, shared by the caches of all managed ledgers. There is no clock,
no cursor and no pass.

- A *segment* has room for a fixed number of bytes, an offset up to which it is written, and its entries in the order
  of their inserts. Each entry knows where in its segment it starts.
- One segment is *current*: it takes what is inserted, as long as that fits behind its offset.

What an insert does, in order. What is cached already, or longer than a segment, is left out. What fits goes into the
current segment. Else the ring turns: the next segment, the first one after the last, is cleared, becomes current and
takes the entry. Clearing drops all entries of a segment at once; nothing else ever leaves.

What a mode changes. With "copy" the bytes are copied into the segment, and the offset grows by the size rounded up to
64; with "reference" the segment keeps the buffer it was given, and the offset grows by the size.

What a lookup does. It asks the segments from the current one backwards, and changes nothing: an entry that is read
does not stay longer. A range is answered whole or not at all.
"""

from __future__ import annotations

from entrycache_reference.pulsar_segmented.config import Config, Mode, Variants
from entrycache_reference.pulsar_segmented.state import Row, State, Step, initial
from entrycache_reference.pulsar_segmented.step import step

NAME = "pulsar-segmented"

__all__ = ["NAME", "Config", "Mode", "Row", "State", "Step", "Variants", "initial", "step"]
