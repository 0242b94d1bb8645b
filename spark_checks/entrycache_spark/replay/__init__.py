"""Replay: a second opinion about traces, which steps the reference over the rows.

One module or folder a system. `pulsar_segmented` and `pulsar_legacy` step the reference over the calls that the rows
show. The others apply each row with the reference's own functions, and compare it with what they produce. Nothing is
taken from the rule files. Replay is meant for small traces.
"""
