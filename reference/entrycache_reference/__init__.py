"""entrycache_reference: the rules of message-broker entry caches as pure, typed functions.

One folder a system. Each gives `initial(config)`, `step(state, event, config)` and `LAWS`.
"""
