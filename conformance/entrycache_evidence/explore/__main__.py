"""`python -m entrycache_evidence.explore [PROFILE]`: count the worlds of a profile, and write docs/worlds.json."""

from __future__ import annotations

import sys

from entrycache_evidence.explore import counts
from entrycache_evidence.explore.search import explore
from entrycache_evidence.systems import PROFILES, SHOWN


def main() -> int:
    """Write what is counted, world by world; the exit code is 1 where a law breaks, and then no more is counted."""
    profile = sys.argv[1] if len(sys.argv) > 1 else PROFILES[0]
    if profile not in PROFILES:
        print(f"no profile {profile!r}; expected one of {', '.join(PROFILES)}", file=sys.stderr)
        return 2
    held = counts.committed()
    for shown in SHOWN.values():
        for world in shown.of(profile):
            seen = explore(world, whole=False)
            if seen.counterexample is not None:
                print(f"{world.name}: a law is broken; nothing is accepted: entrycache prove", file=sys.stderr)
                return 1
            key, now = counts.counted(world, seen)
            held[key] = now
            counts.write(held)
            print(f"{world.name}: {counts.told(now)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
