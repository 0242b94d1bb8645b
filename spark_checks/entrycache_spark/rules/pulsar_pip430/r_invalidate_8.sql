-- R-INVALIDATE-8: `invalidate_ledger` leaves no entry of its ledger.

-- checked
op = 'REMOVE' and cause = 'LEDGER'

-- needs
entry_id of INSERT
entry_id of REMOVE LEDGER
call_id of REMOVE LEDGER

-- over survivors
cause = 'LEDGER'

-- expected
'every entry of the ledger removed'

-- observed
concat(cast(left_over as string), ' left, the first of life ', cast(life as string))

-- seqs
array(begin_seq, seq)

-- sure: with several threads an entry may come while the call runs
unbroken and not many
