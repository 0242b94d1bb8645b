-- R-METRICS-5: `eviction_cycles` counts the size passes of origin TRIGGER or CYCLE, and no others. A row is wrong if it
-- neither counts the events since the start nor grows by those since the METRICS before.

-- checked
op = 'METRICS'

-- needs
value.eviction_cycles of METRICS
ever cause of PASS_BEGIN
ever origin of PASS_BEGIN SIZE

-- over metered
cycles is not null and (not whole or cycles <> n_cycles) and coalesce(cycles - n_cycles <> cycles_off, whole)

-- expected
concat('eviction_cycles ', coalesce(cast(n_cycles + case when whole then 0 else coalesce(cycles_off, 0) end as string), 'unknown'))

-- observed
concat('eviction_cycles ', coalesce(cast(cycles as string), 'unknown'))

-- seqs
case when metrics_before is null then array(seq) else array(metrics_before, seq) end

-- sure: in a concurrent broker the counters move after the events
not many
