-- K-METRICS-2: the counters of the thread never fall; `puts` are at least the PUT rows (a refused write counts and leaves
-- no row); `evicts` are at least the evictions that are overflow for certain, and at most all of them, unless the
-- limit has shrunk (a turn of `resize` counts for an empty namespace too). Only METRICS events that are calls of their
-- own are compared. `gets` and `flushes` leave no rows of their own.

-- checked
op = 'METRICS' and cache is null

-- over streamed
op = 'METRICS' and cache is null and (
  counter(value, 'puts') < puts_before or counter(value, 'gets') < gets_before
  or counter(value, 'evicts') < evicts_before or counter(value, 'flushes') < flushes_before
  or (
    whole and call_id = seq and (
      (n_failed = 0 and counter(value, 'puts') < n_puts)
      or counter(value, 'evicts') < n_sure_evicts
      or (shrunk_seq is null and counter(value, 'evicts') > n_evicts)
    )
  )
)

-- expected
concat(
  'at least ', cast(n_puts as string), ' puts, from ', cast(coalesce(n_sure_evicts, 0) as string), ' to ',
  cast(n_evicts as string), ' evicts, and no less than before'
)

-- observed
coalesce(value, 'no value')

-- sure
not many
