-- K-METRICS-2: the counters of the thread never fall. `puts` is the number of PUT rows. `evicts` is at least the number
-- of certain overflow evictions and at most that of all evictions, unless the limit has shrunk (`resize` counts an empty
-- namespace too). `flushes` is at least the number of calls that begin with a FLUSH of an entry that is not evicted. An
-- eviction that a listener undoes by throwing counts nothing. More `puts` than rows are no certain violation (a refused
-- write counts and leaves no row), nor are more `gets` than lookups. Only METRICS events that are calls of their own are
-- compared.

-- checked
op = 'METRICS' and cache is null

-- needs
clean value.puts of METRICS
clean value.gets of METRICS
clean value.evicts of METRICS
clean value.flushes of METRICS

-- over streamed
op = 'METRICS' and cache is null and (
  counter(value, 'puts') < counter(metrics_before, 'puts') or counter(value, 'gets') < counter(metrics_before, 'gets')
  or counter(value, 'evicts') < counter(metrics_before, 'evicts')
  or counter(value, 'flushes') < counter(metrics_before, 'flushes')
  or (
    whole and call_id = seq and (
      (n_failed = 0 and counter(value, 'puts') < n_puts)
      or (n_failed = 0 and counter(value, 'evicts') < n_sure_evicts)
      or counter(value, 'flushes') < n_flushes
      or (shrunk_seq is null and counter(value, 'evicts') > n_evicts)
    )
  )
)

-- expected
concat(
  cast(n_puts as string), ' puts, at least ', cast(n_flushes as string), ' flushes, from ', cast(coalesce(n_sure_evicts, 0) as string), ' to ',
  cast(n_evicts as string), ' evicts, and no less than before'
)

-- observed
coalesce(value, 'no value')

-- sure
not many

-- over streamed: more than the rows show
op = 'METRICS' and cache is null and whole and call_id = seq
and (counter(value, 'puts') > n_puts or counter(value, 'gets') > n_lookups)

-- expected
concat(cast(n_puts as string), ' puts, at most ', cast(n_lookups as string), ' gets')

-- observed
coalesce(value, 'no value')

-- sure
false
