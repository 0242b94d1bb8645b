"""The cache of a broker: entries of many managed ledgers under one limit; see `entrycache_fast.BrokerCache`."""
