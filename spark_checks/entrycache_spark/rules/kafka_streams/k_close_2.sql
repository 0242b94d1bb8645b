-- K-CLOSE-2: a closed namespace is empty: each entry has left before, or by a REMOVE with cause CLOSE.

-- checked
op = 'CACHE_CLOSE' or (op = 'REMOVE' and cause = 'CLOSE')

-- needs
life of REMOVE

-- over streamed: an entry that leaves was cached
op = 'REMOVE' and cause = 'CLOSE' and whole and coalesce(life <> life_shown and life <> life_by_writes, true)

-- expected
case when live then concat('life ', cast(life_by_writes as string)) else 'no REMOVE: nothing is cached under this key' end

-- observed
concat('a REMOVE of life ', coalesce(cast(life as string), 'null'))

-- seqs
case when seen_seq is null then array(seq) else array(seen_seq, seq) end

-- sure
not many

-- over streamed: no entry is left (CACHE_CLOSE may stand before or after its REMOVE rows)
whole and live_in_cache > 0 and (op = 'CACHE_CLOSE' or (op = 'REMOVE' and cause = 'CLOSE')) and seq_after = seq + 1
and not coalesce(op_after in ('REMOVE', 'CACHE_CLOSE') and cache_after = cache and call_after = call_id, false)

-- expected
'an empty namespace'

-- observed
concat(cast(live_in_cache as string), ' entries left')

-- sure
not many
