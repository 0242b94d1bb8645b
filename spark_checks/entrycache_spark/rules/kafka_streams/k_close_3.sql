-- K-CLOSE-3: a store that has closed writes, forwards and answers nothing until it opens again. The call that closed it may
-- go on.

-- checked
op = 'STORE_CLOSE'

-- needs
call_id of STORE_CLOSE, BELOW, FORWARD, VIEW, VIEW_ENTRY

-- over stored
op in ('BELOW', 'FORWARD', 'VIEW', 'VIEW_ENTRY') and whole and is_closed

-- expected
'nothing of a closed store'

-- observed
concat('a ', op)

-- seqs
array(store_seq, seq)

-- sure
not many
