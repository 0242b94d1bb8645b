-- R-INSERT-2: an entry that is offered at a position the cache holds is rejected and changes nothing.

-- checked
op = 'INSERT'

-- needs
entry_id of INSERT

-- over placed
op = 'INSERT' and held_before = 1

-- expected
concat('REJECT: life ', cast(life_before as string), ' is cached')

-- observed
'INSERT'

-- seqs
array(changed_seq, seq)

-- sure
not many
