"""How quick the fast cache of `kafka-streams` is; the released cache beside it."""
