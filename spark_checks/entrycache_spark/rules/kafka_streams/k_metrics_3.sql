-- K-METRICS-3: the counters of a namespace since it was made: `overwrites` are the PUT rows over what was cached,
-- `misses` the MISS rows (those before its first PUT may have found no namespace), `hits` the HIT rows and the FLUSH
-- rows of what was not evicted; a handing over that failed counts hits too, so more are no violation for certain where
-- one did, or where the FLUSH rows have no cause.

-- checked
op = 'METRICS' and cache is not null

-- sufficient
keys_hold and calls_hold and own_counts_hold

-- over streamed
op = 'METRICS' and cache is not null and whole and call_id = seq and (
  counter(value, 'overwrites') <> own_overwrites
  or counter(value, 'misses') < own_sure_misses or counter(value, 'misses') > own_misses
  or counter(value, 'hits') < own_hits or (n_vague = 0 and counter(value, 'hits') > own_hits)
)

-- expected
concat(
  cast(own_overwrites as string), ' overwrites, ', cast(own_misses as string), ' misses, ', cast(own_hits as string), ' hits'
)

-- observed
coalesce(value, 'no value')

-- seqs
case when closed_seq is null then array(seq) else array(closed_seq, seq) end

-- sure
not many

-- over streamed: more hits than the rows show
op = 'METRICS' and cache is not null and whole and call_id = seq and n_vague > 0 and counter(value, 'hits') > own_hits

-- expected
concat(cast(own_hits as string), ' hits')

-- observed
coalesce(value, 'no value')

-- sure
false
