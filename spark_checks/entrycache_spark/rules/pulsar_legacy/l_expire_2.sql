-- L-EXPIRE-2: a time pass removes the lowest positions, ascending: no cached entry is below one that leaves.

-- checked
op = 'EVICT' and cause = 'TIME'

-- needs
entry_id of INSERT
entry_id of EVICT TIME
pass_id of EVICT TIME

-- over survivors
cause = 'TIME'

-- expected
'every entry below removed'

-- observed
concat(cast(left_over as string), ' left, the first of life ', cast(life as string))

-- seqs
array(begin_seq, seq)

-- sure
unbroken and not many

-- over taken
op = 'EVICT' and cause = 'TIME' and not coalesce(ascends, true)

-- expected
'ascending positions'

-- observed
'a position at or below the one before it'

-- seqs
array(taken_before, seq)
