"""The policy league: the same requests through the caches of Pulsar and through the policies of the field.

`requests` is what every policy is asked, from a recorded trace (`recorded`), a preset (`presets`) or an
oracleGeneral file (`oracle_general`). A policy is one kernel over arrays, compiled by numba; `policies` lists them.
`replay` measures, `cost` asks what a request costs with many topics, `claims` holds what was said of the caches to
the numbers, and `show`, `picture` and `page` tell it.

No kernel knows the future but `belady`. A policy without a time to live fills its capacity; those of Pulsar may not.
"""
