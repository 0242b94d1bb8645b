"""Replay: a second opinion about traces, which steps the reference over the rows.

One folder a system. Each row is applied with the reference's own functions, and compared with what they produce;
nothing is taken from the rule files. Replay is meant for small traces.
"""
