-- R-CONFIG-1: the rows of a pass carry the settings of the effective CONFIG.

-- checked
op in ('PASS_BEGIN', 'PASS_END', 'EVICT', 'REQUEUE', 'TOMBSTONE') and (max_requeues is not null or extend_accessed is not null)

-- needs
max_requeues or extend_accessed of PASS_BEGIN, PASS_END, EVICT, REQUEUE, TOMBSTONE
CONFIG.max_requeues or CONFIG.extend_recently_accessed of PASS_BEGIN, PASS_END, EVICT, REQUEUE, TOMBSTONE

-- over rows
op in ('PASS_BEGIN', 'PASS_END', 'EVICT', 'REQUEUE', 'TOMBSTONE')
and (max_requeues <> max_requeues_now or extend_accessed <> extend_now)

-- expected
concat(
  'max_requeues ', coalesce(cast(max_requeues_now as string), 'unknown'), ', extend_accessed ',
  coalesce(cast(extend_now as string), 'unknown')
)

-- observed
concat(
  'max_requeues ', coalesce(cast(max_requeues as string), 'unknown'), ', extend_accessed ',
  coalesce(cast(extend_accessed as string), 'unknown')
)

-- seqs
array(config_seq, seq)

-- sure: with several threads a change may stand between the begin of a pass and the row
not gapped and (only_config or not many)
