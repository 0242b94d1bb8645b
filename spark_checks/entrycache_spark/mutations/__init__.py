"""Which rule sees which change of one value in one row of a recorded trace; `python -m entrycache_spark.mutations`."""
