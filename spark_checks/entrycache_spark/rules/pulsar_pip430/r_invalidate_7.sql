-- R-INVALIDATE-7: below the highest entry that `invalidate_before` removes, none is left.

-- checked
op = 'REMOVE' and cause = 'CURSOR'

-- needs
entry_id of INSERT
entry_id of REMOVE CURSOR
call_id of REMOVE CURSOR

-- over survivors
cause = 'CURSOR'

-- expected
'every entry below removed'

-- observed
concat(cast(left_over as string), ' left, the first of life ', cast(life as string))

-- seqs
array(begin_seq, seq)

-- sure: with several threads an entry may come while the call runs
unbroken and not many
