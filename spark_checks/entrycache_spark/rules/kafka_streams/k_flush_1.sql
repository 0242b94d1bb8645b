-- K-FLUSH-1: a flush hands over cached entries in the order of their last writes, and leaves no dirty entry. Its FLUSH
-- rows stand together; those of an eviction begin with the evicted entry (K-EVICT-3). A listener that throws puts an
-- evicted entry back where it was: after such a PUT the order is not known.

-- checked
op = 'FLUSH' and coalesce(cause, 'CALL') <> 'FAILED'

-- needs
life of FLUSH
call_id of FLUSH
dirty of PUT

-- over streamed: an entry that is handed over is cached, or evicted by the same call
op = 'FLUSH' and whole and coalesce(life <> life_by_writes, true) and not leaves_here

-- expected
case when live then concat('life ', cast(life_by_writes as string)) else 'an entry that is cached, or evicted by this call' end

-- observed
concat('a FLUSH of life ', coalesce(cast(life as string), 'null'))

-- seqs
case when seen_seq is null then array(seq) else array(seen_seq, seq) end

-- sure
not many

-- over streamed: the order of the last writes
op = 'FLUSH' and whole and op_before = 'FLUSH' and cache = cache_before and call_id = call_before
and not leaves_here and not leaves_before and life < life_before

-- expected
concat('a write after that of life ', cast(life_before as string))

-- observed
concat('a FLUSH of life ', cast(life as string))

-- seqs
array(seq_before, seq)

-- sure
not many and coalesce(seq < put_back_seq, true)

-- over streamed: no entry is left dirty by the last FLUSH row
op = 'FLUSH' and whole and dirty_in_cache > 0 and seq_after = seq + 1 and not coalesce(op_after = 'FLUSH' and cache_after = cache and call_after = call_id, false)

-- expected
'every dirty entry handed over'

-- observed
concat(cast(dirty_in_cache as string), ' left dirty')

-- sure
not many
