-- R-INVALIDATE-1: between the lowest and the highest entry that `remove_range` removes, none is left.

-- checked
op = 'REMOVE' and cause = 'RANGE'

-- needs
entry_id of INSERT
entry_id of REMOVE RANGE
call_id of REMOVE RANGE

-- over survivors
cause = 'RANGE'

-- expected
'every entry of the range removed'

-- observed
concat(cast(left_over as string), ' left, the first of life ', cast(life as string))

-- seqs
array(begin_seq, seq)

-- sure: with several threads an entry may come while the call runs
unbroken and not many
