-- R-INVALIDATE-4: `clear` leaves no entry in its cache.

-- checked
op = 'REMOVE' and cause = 'CLEAR'

-- needs
entry_id of INSERT
entry_id of REMOVE CLEAR
call_id of REMOVE CLEAR

-- over survivors
cause = 'CLEAR'

-- expected
'every entry of the cache removed'

-- observed
concat(cast(left_over as string), ' left, the first of life ', cast(life as string))

-- seqs
array(begin_seq, seq)

-- sure: with several threads an entry may come while the call runs
unbroken and not many
