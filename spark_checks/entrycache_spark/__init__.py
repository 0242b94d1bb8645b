"""entrycache_spark: recorded traces of entry caches, and audits of the rules over them."""
