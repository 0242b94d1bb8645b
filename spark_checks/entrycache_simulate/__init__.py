"""What if: the calls of a recorded trace once more, through the fast cache, under other settings.

`calls` gets the calls back from the rows, `drive` makes them, `meter` measures, `run` puts them together and
checks itself; `receive` and `retained` model the buffers that cached entries keep alive, `curve` asks how many
bytes that is for a limit.

The whole package is about one system, `pulsar-pip430`, as a folder of that name elsewhere is.
"""
