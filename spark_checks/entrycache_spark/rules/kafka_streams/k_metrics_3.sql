-- K-METRICS-3: the counters of a namespace since it was created. `overwrites` is the number of PUT rows over a cached
-- entry. `misses` is the number of MISS rows (those before its first PUT may have found no namespace). `hits` is the
-- number of HIT rows, and of FLUSH rows of entries that were not evicted. A FLUSH that failed counts hits too; so more
-- hits are no certain violation if one failed, or if the FLUSH rows have no cause; nor are fewer hits then.

-- checked
op = 'METRICS' and cache is not null

-- needs
clean value.overwrites of METRICS
clean value.misses of METRICS
clean value.hits of METRICS

-- over streamed
op = 'METRICS' and cache is not null and whole and call_id = seq and (
  counter(value, 'overwrites') <> own_overwrites
  or counter(value, 'misses') < own_sure_misses or counter(value, 'misses') > own_misses
  or counter(value, 'hits') < own_hits - n_unnamed or (n_vague = 0 and counter(value, 'hits') > own_hits)
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

-- over streamed: other hits than the rows show
op = 'METRICS' and cache is not null and whole and call_id = seq and (
  (n_vague > 0 and counter(value, 'hits') > own_hits) or counter(value, 'hits') between own_hits - n_unnamed and own_hits - 1
)

-- expected
concat(cast(own_hits as string), ' hits')

-- observed
coalesce(value, 'no value')

-- sure
false
