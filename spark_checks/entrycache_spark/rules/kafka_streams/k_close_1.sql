-- K-CLOSE-1: a clear removes every cached entry and nothing else. Its REMOVE rows stand together, and no entry is left
-- after the last one.

-- checked
op = 'REMOVE' and cause = 'CLEAR'

-- needs
life of REMOVE

-- over streamed
op = 'REMOVE' and cause = 'CLEAR' and whole and (
  coalesce(life <> life_shown and life <> life_by_writes, true)
  or (
    live_in_cache > 0 and seq_after = seq + 1
    and not coalesce(op_after = 'REMOVE' and cause_after = 'CLEAR' and cache_after = cache and call_after = call_id, false)
  )
)

-- expected
case when coalesce(life <> life_shown and life <> life_by_writes, true) then 'a cached entry' else 'an empty namespace' end

-- observed
case
  when coalesce(life <> life_shown and life <> life_by_writes, true)
    then concat('a REMOVE of life ', coalesce(cast(life as string), 'null'))
  else concat(cast(live_in_cache as string), ' entries left')
end

-- seqs
case when seen_seq is null then array(seq) else array(seen_seq, seq) end

-- sure
not many
