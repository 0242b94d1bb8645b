"""The formal evidence: what is proved, exhausted and confirmed about the reference.

z3 and CrossHair are optional; the modules that need them are imported when `prove` runs.
"""

from __future__ import annotations

from entrycache_evidence.core.results import Evidence, Proof, compare, write_evidence
from entrycache_evidence.run import prove

__all__ = ["Evidence", "Proof", "compare", "prove", "write_evidence"]
