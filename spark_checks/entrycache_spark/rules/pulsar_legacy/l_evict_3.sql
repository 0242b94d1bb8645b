-- L-EVICT-3: a size pass over all caches chooses them by their bytes, the largest first, as long as the chosen ones
-- hold less than half of all bytes. Each cache with a share removes entries; no other one does.

-- checked
op = 'PASS_BEGIN' and cause = 'SIZE' and cache is null

-- needs
size_bytes of INSERT
pass_id of EVICT SIZE
bound of PASS_BEGIN SIZE

-- over shares
not of_one and not tied and ((place = 'FIRST' and not gives) or (place = 'END' and gives and gave_none))

-- expected
concat(case when gives then 'something' else 'nothing' end, ' from ', cache, ' with ', cast(bytes_at as string), ' bytes')

-- observed
concat(cast(gave_bytes as string), ' bytes')

-- seqs
array(pass_id, seq)

-- sure
not many
