-- L-INSERT-3: an offer that begins with the bytes at `max_size_bytes` or above adds nothing, also where its own pass has
-- made room.

-- checked
op = 'INSERT'

-- needs
CONFIG.max_size_bytes of INSERT

-- over offered
op = 'INSERT' and found >= limit_now

-- expected
concat('SKIP FULL: ', cast(found as string), ' bytes at the beginning')

-- observed
'INSERT'

-- seqs
array(found_seq, seq)

-- sure
not many and not gapped
