-- K-FLUSH-3: a dirty entry stays dirty until it is handed over: a row that shows a written entry clean needs a FLUSH
-- before it. (Only the first such row of a life is reported.)

-- checked
op in ('HIT', 'EVICT', 'DELETE', 'REMOVE') and life is not null

-- needs
dirty of PUT
dirty of HIT, EVICT, DELETE, REMOVE

-- over streamed
op in ('HIT', 'EVICT', 'DELETE', 'REMOVE') and whole and life = life_by_writes and not dirty and dirty_by_writes and dirty_shown

-- expected
concat('a dirty entry, or a FLUSH of life ', cast(life as string))

-- observed
concat(op, ' of a clean one')

-- seqs
array(put_seq, seq)

-- sure
not many
