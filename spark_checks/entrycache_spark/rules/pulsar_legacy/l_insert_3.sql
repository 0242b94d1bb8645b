-- L-INSERT-3: an offer that begins with the bytes at `max_size_bytes` or above adds nothing, even if its own pass has
-- made room.

-- checked
op = 'INSERT'

-- needs
CONFIG.max_size_bytes of INSERT

-- over offered
op = 'INSERT' and held_at_offer >= limit_now

-- expected
concat('SKIP FULL: ', cast(held_at_offer as string), ' bytes at the beginning')

-- observed
'INSERT'

-- seqs
array(held_at_seq, seq)

-- sure
not many and not gapped
