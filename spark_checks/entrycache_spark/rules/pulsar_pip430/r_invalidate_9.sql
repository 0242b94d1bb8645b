-- R-INVALIDATE-9: `remove_cache` leaves no entry in its cache.

-- checked
op = 'CACHE_CLOSE' or (op = 'REMOVE' and cause = 'CLOSE')

-- needs
entry_id of INSERT
call_id of REMOVE CLOSE, CACHE_CLOSE

-- over survivors
cause = 'CLOSE'

-- expected
'every entry of the cache removed'

-- observed
concat(cast(left_over as string), ' left, the first of life ', cast(life as string))

-- seqs
array(begin_seq, seq)

-- sure: with several threads an entry may come while the call runs
unbroken and not many
