"""Recorded traces: their columns and files, and how they are recorded, generated, converted and inspected.

A trace is a folder of Parquet parts, one row for each event of one broker's cache. `schema` has the columns, `parquet`
checks one part, and `files` reads and writes a whole folder. `recording` turns what a cache reports into rows.
`formats` says for each system what its rows mean, and `generators` makes traces from seeded workloads. `convert` and
`inspect` are the tools for a trace that exists. `pulsar_pip430_calls` extracts the calls that the rows of a trace show.
`jit` compiles loops over arrays with numba where it is installed.
"""
