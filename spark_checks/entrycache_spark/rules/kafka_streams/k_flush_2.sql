-- K-FLUSH-2: an entry that was handed over, or put clean, is clean: no row shows it dirty, and it is not handed over
-- again, unless a flush of it has failed since.

-- checked
op in ('HIT', 'EVICT', 'DELETE', 'REMOVE', 'FLUSH') and life is not null

-- needs
dirty of PUT
life of FLUSH

-- over streamed
whole and live and life = life_by_writes and not dirty_by_writes and not dirty_shown and (
  op = 'FLUSH'
  or (op in ('HIT', 'DELETE', 'REMOVE') and dirty)
  or (op = 'EVICT' and dirty and coalesce(flushed_life <> life or flushed_call <> call_id, true))
)

-- expected
'a clean entry'

-- observed
concat(op, ' of a dirty one')

-- seqs
array(coalesce(flushed_seq, put_seq), seq)

-- sure: a flush without a cause may have failed
not many and is_sure_flush
