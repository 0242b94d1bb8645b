"""The single-pass checkers: one folder a system, and the parts that all of them share.

A checker reads the events of one broker once, in the order of seq, with loops that numba compiles. It decides which
rules no event violates. Where it is not certain it flags the rule, and the rule's SQL window decides: a checker may be
stricter than its SQL, never laxer. Memory is bounded by what is cached at once.

- `batches` turns Arrow batches into arrays, and tracks the effective settings.
- `events` counts the kinds of events, so that rules can be applied to them without reading them again.
- `primitives` holds what compiled loops share: null, flags and hash tables.
"""
