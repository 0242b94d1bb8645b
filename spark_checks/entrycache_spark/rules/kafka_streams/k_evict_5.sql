-- K-EVICT-5: a write at or under the limit evicts nothing: in a call that began with a PUT the total was above the
-- limit before each eviction. (Checked up to the first FLUSH of the call; after it a listener may evict.)

-- checked
op = 'PUT'

-- needs
CONFIG.max_size_bytes of PUT

-- over streamed
overflows and whole and bytes_after + size_bytes <= limit_now

-- expected
concat('no EVICT at ', cast(bytes_after + size_bytes as string), ' of ', cast(limit_now as string), ' bytes')

-- observed
'an EVICT'

-- seqs
array(call_id, seq)

-- sure
not many
