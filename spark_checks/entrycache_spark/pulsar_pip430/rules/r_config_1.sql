-- R-CONFIG-1: the rows of a pass carry the settings of the CONFIG in force.

-- checked
op in ('PASS_BEGIN', 'PASS_END', 'EVICT', 'REQUEUE', 'TOMBSTONE') and max_requeues is not null

-- over rows
op in ('PASS_BEGIN', 'PASS_END', 'EVICT', 'REQUEUE', 'TOMBSTONE')
and (max_requeues <> max_requeues_now or extend_accessed <> extend_now)

-- expected
concat('max_requeues ', cast(max_requeues_now as string), ', extend_accessed ', cast(extend_now as string))

-- observed
concat(
  'max_requeues ', cast(max_requeues as string), ', extend_accessed ',
  coalesce(cast(extend_accessed as string), 'unknown')
)

-- seqs
array(config_seq, seq)

-- sure: with several threads a change may stand between the begin of a pass and the row
not gapped and (only_config or not many)
