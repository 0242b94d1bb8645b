"""The cache of a broker: entries of many managed ledgers under one limit; see `entrycache_fast.BrokerCache`.

`store` keeps the entries and the cursors, `rows` reports events, `state` holds the settings and the removal queue,
`passes` removes entries, and `cache` puts the calls together.
"""
