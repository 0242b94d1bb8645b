"""The checker of `pulsar-pip430`: one pass of compiled loops over a broker's events.

- `rows`: the vocabulary, and the rules that one row decides.
- `order`: the order of events, passes, and the totals of METRICS and END.
- `lives`: the lives of entries, what they carry from event to event, and their expected-read counts.
- `reads`: positions, reads and cursors.
- `in_flight`: asks of storage, what they bring, and permits.
- `removals`: the removal queue, and the calls that remove entries.
- `broker` puts them together.
"""
