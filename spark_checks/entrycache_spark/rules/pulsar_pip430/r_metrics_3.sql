-- R-METRICS-3: `inserted_entries` counts each INSERT, by an add or as a fill, and nothing else. A row is wrong if it
-- neither counts the events since the start nor grows by those since the METRICS before.

-- checked
op = 'METRICS'

-- needs
value.inserted_entries of METRICS

-- over metered
inserted is not null and (not whole or inserted <> n_inserted) and coalesce(inserted - n_inserted <> inserted_off, whole)

-- expected
concat('inserted_entries ', coalesce(cast(n_inserted + case when whole then 0 else coalesce(inserted_off, 0) end as string), 'unknown'))

-- observed
concat('inserted_entries ', coalesce(cast(inserted as string), 'unknown'))

-- seqs
case when metrics_before is null then array(seq) else array(metrics_before, seq) end

-- sure: in a concurrent broker the counters move after the events
not many
