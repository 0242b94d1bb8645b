-- R-INSERT-1: what is offered at a position that the cache does not hold is added, never rejected as a duplicate.

-- checked
op = 'REJECT' and cause = 'DUPLICATE'

-- needs
entry_id of INSERT
entry_id of REJECT DUPLICATE

-- over placed
op = 'REJECT' and cause = 'DUPLICATE' and held_before = 0

-- expected
'INSERT'

-- observed
'REJECT of a position that is not cached'

-- seqs
case when changed_seq is null then array(seq) else array(changed_seq, seq) end

-- sure
not many
