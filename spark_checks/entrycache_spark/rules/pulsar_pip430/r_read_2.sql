-- R-READ-2: only a hit marks an entry accessed. The mark that a row shows before its event follows from the hits since
-- the entry was inserted or requeued.

-- checked
life is not null and accessed is not null
and op in ('HIT', 'READ_DONE', 'EXPECT', 'REQUEUE', 'EVICT', 'REMOVE', 'SNAPSHOT')

-- needs
accessed of REQUEUE, EVICT

-- over carried
accessed <> marked and accessed <> mark_before

-- expected
case when marked then 'accessed: it was hit' else 'not accessed: no HIT' end

-- observed
case when accessed then 'accessed' else 'not accessed' end

-- seqs
case when marked and hit_seq is not null then array(given_seq, hit_seq, seq) else array(given_seq, seq) end
