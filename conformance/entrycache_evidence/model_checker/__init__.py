"""The explicit-state model checker: bounded models, their exhaustion, and the refinement of fast caches."""
