-- R-METRICS-6: hits and misses are those of reads, one for each position; hits with their accounted bytes, misses with
-- those of storage, which a row shows where storage gives back what was added. A row is wrong if it neither counts the events since the start nor grows by those since the METRICS
-- before.

-- checked
op = 'METRICS'

-- needs
value.hit_entries or value.hit_bytes or value.miss_entries or value.miss_bytes of METRICS
ever cause of HIT
ever cause of MISS

-- over metered
(hits is not null and (not whole or hits <> n_hits) and coalesce(hits - n_hits <> hits_off, whole))
or (hit_bytes is not null and (not whole or hit_bytes <> n_hit_bytes) and coalesce(hit_bytes - n_hit_bytes <> hit_bytes_off, whole))
or (misses is not null and (not whole or misses <> n_misses) and coalesce(misses - n_misses <> misses_off, whole))
or (storage_bytes is not null and miss_bytes is not null and (not whole or miss_bytes <> n_miss_bytes) and coalesce(miss_bytes - n_miss_bytes <> miss_bytes_off, whole))

-- expected
concat('hit_entries ', coalesce(cast(n_hits + case when whole then 0 else coalesce(hits_off, 0) end as string), 'unknown'), ', ', 'hit_bytes ', coalesce(cast(n_hit_bytes + case when whole then 0 else coalesce(hit_bytes_off, 0) end as string), 'unknown'), ', ', 'miss_entries ', coalesce(cast(n_misses + case when whole then 0 else coalesce(misses_off, 0) end as string), 'unknown'), ', ', 'miss_bytes ', coalesce(cast(n_miss_bytes + case when whole then 0 else coalesce(miss_bytes_off, 0) end as string), 'unknown'))

-- observed
concat('hit_entries ', coalesce(cast(hits as string), 'unknown'), ', ', 'hit_bytes ', coalesce(cast(hit_bytes as string), 'unknown'), ', ', 'miss_entries ', coalesce(cast(misses as string), 'unknown'), ', ', 'miss_bytes ', coalesce(cast(miss_bytes as string), 'unknown'))

-- seqs
case when metrics_before is null then array(seq) else array(metrics_before, seq) end

-- sure: in a concurrent broker the counters move after the events
not many
