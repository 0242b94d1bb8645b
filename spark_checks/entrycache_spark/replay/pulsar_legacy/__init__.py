"""Replay of `pulsar-legacy`: step the reference over the calls of a trace, and compare each row with its answer.

`calls` groups the rows of a broker by pass and by call, returns the request that they show, and steps the reference
over it. `broker` rebuilds from the rows what is cached where the request looks, and names the rule that a difference
violates. So a difference is reported at its own row, and the replay goes on behind it.

After missing events nothing is known of positions, lives and bytes. A sum or a value of an entry is wrong if it is
neither what the rows since then lead to, nor what the row before shows.
"""
