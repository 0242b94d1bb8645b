-- R-METRICS-4: `evicted_entries` counts each entry that leaves, by any pass or call. A row is wrong if it neither
-- counts the events since the start nor grows by those since the METRICS before.

-- checked
op = 'METRICS'

-- needs
value.evicted_entries of METRICS

-- over metered
evicted is not null and (not whole or evicted <> n_evicted) and coalesce(evicted - n_evicted <> evicted_off, whole)

-- expected
concat('evicted_entries ', coalesce(cast(n_evicted + case when whole then 0 else coalesce(evicted_off, 0) end as string), 'unknown'))

-- observed
concat('evicted_entries ', coalesce(cast(evicted as string), 'unknown'))

-- seqs
case when metrics_before is null then array(seq) else array(metrics_before, seq) end

-- sure: in a concurrent broker the counters move after the events
not many
