-- L-READ-2: the hits of one lookup ascend, and include every cached entry between the lowest and the highest.

-- checked
op = 'HIT' and cause = 'GET'

-- needs
entry_id of INSERT
entry_id of HIT GET
call_id of HIT GET

-- over survivors
cause = 'GET' and left_over > n_rows

-- expected
concat(cast(left_over as string), ' hits: so many are cached there')

-- observed
concat(cast(n_rows as string), ' hits')

-- seqs
array(begin_seq, seq)

-- sure
unbroken and not many

-- over reads
op = 'HIT' and cause = 'GET' and lookup_before_seq is not null and not coalesce(ascends, true)

-- expected
'ascending positions'

-- observed
'a position at or below the one before it'

-- seqs
array(lookup_before_seq, seq)

-- sure
not many
