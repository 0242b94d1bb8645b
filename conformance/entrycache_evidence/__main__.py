"""`python -m entrycache_evidence [PROFILE]`: prove everything and write docs/evidence.json and its page."""

from __future__ import annotations

import sys

from entrycache_evidence import prove, sceptic, write_evidence
from entrycache_evidence.rulebook.registry import checkout


def main() -> int:
    """Write the evidence; the exit code is 1 where something failed, and then nothing is written."""
    proof = prove(sys.argv[1] if len(sys.argv) > 1 else "long")
    for line in [*proof.failures, *(f"skipped: {part}: {reason}" for part, reason in proof.skipped)]:
        print(line, file=sys.stderr)
    if proof.failures or proof.skipped:
        return 1
    write_evidence(proof)
    root = checkout()
    assert root is not None, "the line before has written into it"
    sceptic.write(root)
    return 0


if __name__ == "__main__":
    sys.exit(main())
