-- S-GET-2: lookups and queries change nothing: no offset moves, and no entry comes or leaves in their call.

-- checked
op in ('HIT', 'MISS', 'ASK', 'METRICS')

-- over ringed: offsets
op in ('HIT', 'MISS', 'ASK', 'METRICS') and whole and is_miswritten

-- expected
concat('offsets of ', cast(manager_shown as string), ' bytes in all')

-- observed
concat('manager_bytes ', cast(manager_bytes as string))

-- sure
not many

-- over ringed: an entry comes or leaves
op in ('INSERT', 'PASS_BEGIN', 'EVICT') and whole and before.op in ('HIT', 'MISS', 'ASK', 'METRICS')
and before.call_id = call_id

-- expected
'no change in the call of a lookup'

-- observed
op

-- seqs
array(before.at, seq)

-- sure
not many
