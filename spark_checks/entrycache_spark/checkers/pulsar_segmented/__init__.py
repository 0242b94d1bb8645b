"""The checker of `pulsar-segmented`: one pass of compiled loops over a ring's events.

`rows` holds the vocabulary and the rules of rows, `segments` the turns and offsets, `entries` lives and totals,
positions and range reads; `broker` puts them together.
"""
