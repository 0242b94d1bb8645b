-- L-EVICT-4: of caches with the same bytes a size pass chooses them in the order of their names.

-- checked
op = 'PASS_BEGIN' and cause = 'SIZE' and cache is null

-- needs
size_bytes of INSERT
pass_id of EVICT SIZE
bound of PASS_BEGIN SIZE

-- over shares
not of_one and tied and ((place = 'FIRST' and not gives) or (place = 'END' and gives and gave_none))

-- expected
concat(case when gives then 'something' else 'nothing' end, ' from ', cache, ', one of several with ', cast(bytes_at as string), ' bytes')

-- observed
concat(cast(gave_bytes as string), ' bytes')

-- seqs
array(pass_id, seq)

-- sure
not many
