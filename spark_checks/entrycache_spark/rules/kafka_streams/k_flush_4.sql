-- K-FLUSH-4: an entry dropped after a call (DELETE, cause FLUSH) is a write that was handed over in that call, and is
-- still cached.

-- checked
op = 'DELETE' and cause = 'FLUSH'

-- needs
life of DELETE FLUSH
call_id of DELETE FLUSH
life of FLUSH

-- over streamed
op = 'DELETE' and cause = 'FLUSH' and whole and (
  coalesce(life <> flushed_life or call_id <> flushed_call, true)
  or coalesce(life <> life_shown and life <> life_by_writes, true)
)

-- expected
case
  when flushed_life = life and flushed_call = call_id then 'no DELETE: that write is not cached'
  else 'a DELETE only of an entry that was handed over in this call'
end

-- observed
concat('a DELETE of life ', coalesce(cast(life as string), 'null'))

-- seqs
case when flushed_seq is null then array(seq) else array(flushed_seq, seq) end

-- sure
not many
