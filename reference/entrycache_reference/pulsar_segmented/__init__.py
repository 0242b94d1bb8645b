"""System `pulsar-segmented`: the shared broker cache of PIP-174, which was proposed and never merged.

Theory of operation. There is one machine: a ring of segments, shared by the caches of all managed ledgers. There is no
clock, no cursor and no pass.

- A *segment* has room for a fixed number of bytes, an offset up to which it is written, and its entries in the order of
  their inserts. Each entry knows at which byte of its segment it starts.
- One segment is *current*. It takes inserted entries as long as they fit behind its offset.

An insert skips an entry that is cached already or longer than a segment. An entry that fits goes into the current
segment. Otherwise the ring turns: the next segment (after the last one the first) is cleared, becomes current, and
takes the entry. Clearing drops all entries of a segment at once; no entry leaves in any other way.

A mode changes the offsets. With "copy" the bytes are copied into the segment, and the offset grows by the size rounded
up to 64. With "reference" the segment keeps the given buffer, and the offset grows by the size.

A lookup asks the segments from the current one backwards and changes nothing: an entry that is read does not stay
longer. A range is answered whole or not at all.
"""

from entrycache_reference.pulsar_segmented.config import Config, Mode, Variants
from entrycache_reference.pulsar_segmented.state import Row, State, Step, initial
from entrycache_reference.pulsar_segmented.step import step

NAME = "pulsar-segmented"

__all__ = ["NAME", "Config", "Mode", "Row", "State", "Step", "Variants", "initial", "step"]
