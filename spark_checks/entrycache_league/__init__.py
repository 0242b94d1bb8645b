"""The policy comparison: the same requests through the caches of Pulsar and through other replacement policies.

`requests` has the arrays that every policy reads and writes. `sources` makes requests from recorded traces, presets and
oracleGeneral files. A policy is one function over arrays, compiled by numba: `linked_policies` and `heap_policies` have
those of the field, and a module for each system has Pulsar's. `policies` lists them by name. `comparison` replays and
measures, `report` shows tables and charts, and `page` writes the page with the claims about Pulsar's caches.

Only `belady` knows the future. A policy without a time to live fills its capacity; Pulsar's policies may not.
"""
