-- L-INSERT-5: an offer checks whether the position is cached after the pass that the offer itself ran: an entry that
-- this pass evicted is inserted again.

-- checked
op = 'INSERT' or (op = 'REJECT' and cause = 'DUPLICATE')

-- needs
entry_id of INSERT
entry_id of REJECT DUPLICATE
call_id of REJECT DUPLICATE

-- over placed
op = 'REJECT' and cause = 'DUPLICATE' and held_before = 0 and changed_seq >= call_id

-- expected
'INSERT'

-- observed
'REJECT of what its own call has evicted'

-- seqs
array(changed_seq, seq)

-- sure
not many
