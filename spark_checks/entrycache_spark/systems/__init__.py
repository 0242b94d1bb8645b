"""The audited systems: one module a system, with its trace columns, its settings and its `AUDIT`."""
