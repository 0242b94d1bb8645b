-- R-REQUEUE-5: each requeue raises the requeue count by 1, and nothing else changes it. (With a split budget a requeue
-- for access does not count.) A row is wrong if its count follows neither from the row before it nor from all since
-- the life began.

-- checked
life is not null and requeues is not null
and op in ('INSERT', 'HIT', 'READ_DONE', 'EXPECT', 'REQUEUE', 'EVICT', 'REMOVE', 'SNAPSHOT')

-- needs
requeues of REQUEUE

-- over carried
off <> off_before and coalesce(off <> first_off, true)

-- expected
concat('requeues ', cast(off_before + steps as string))

-- observed
concat('requeues ', cast(requeues as string))

-- seqs
array(given_seq, seq)
