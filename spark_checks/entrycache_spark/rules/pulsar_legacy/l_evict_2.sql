-- L-EVICT-2: a cache that is asked alone removes no entry more once it has freed the amount, and no other cache removes
-- any. (If several caches share an amount, L-EVICT-5 applies.)

-- checked
op = 'EVICT' and cause = 'SIZE'

-- needs
size_bytes of EVICT SIZE
pass_id of EVICT SIZE
bound of PASS_BEGIN SIZE

-- over shares
(place = 'LAST' and alone and gives and too_much) or (place = 'FIRST' and of_one and not gives)

-- expected
case when gives then concat('no more than ', cast(share_bytes as string), ' bytes need') else concat('nothing from ', cache) end

-- observed
concat(cast(gave_bytes as string), ' bytes from ', cache)

-- seqs
array(pass_id, seq)

-- sure
not many
