"""Simulation: make the calls of a recorded trace once more, through the fast cache, under other settings.

`run` reads the brokers of a trace, makes their calls and measures the result; it first checks that the settings of the
recording give the events of the trace again. `driver` makes the calls on a cache, and `configs` checks configurations.
`retained` models the buffers that cached entries keep alive. `report` writes tables, JSON and charts. `explain` writes
the calls up to one event as a case.

The whole package is about one system, `pulsar-pip430`.
"""
