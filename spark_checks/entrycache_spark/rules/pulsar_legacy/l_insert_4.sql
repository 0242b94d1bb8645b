-- L-INSERT-4: an offer that begins with the bytes below `max_size_bytes` is not refused for lack of room, whatever its
-- size.

-- checked
op in ('INSERT', 'SKIP') and coalesce(cause, '') <> 'NOT_WANTED'

-- needs
CONFIG.max_size_bytes of INSERT, SKIP FULL
call_id of SKIP FULL
origin of PASS_BEGIN SIZE

-- over offered
op = 'SKIP' and cause = 'FULL' and held_at_offer < limit_now

-- expected
concat('INSERT: ', cast(held_at_offer as string), ' bytes at the beginning')

-- observed
'SKIP FULL'

-- seqs
array(held_at_seq, seq)

-- sure
not many and not gapped
