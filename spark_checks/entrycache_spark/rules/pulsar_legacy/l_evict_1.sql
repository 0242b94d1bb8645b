-- L-EVICT-1: a cache removes entries from its lowest position up. A cache that is asked alone removes entries until it
-- has freed the amount or holds none. (If several caches share an amount, L-EVICT-5 applies.)

-- checked
op in ('PASS_BEGIN', 'EVICT') and cause = 'SIZE'

-- needs
entry_id of INSERT
entry_id of EVICT SIZE
pass_id of EVICT SIZE
bound of PASS_BEGIN SIZE

-- over survivors
cause = 'SIZE'

-- expected
'every entry below removed'

-- observed
concat(cast(left_over as string), ' left, the first of life ', cast(life as string))

-- seqs
array(begin_seq, seq)

-- sure
unbroken and not many

-- over taken
op = 'EVICT' and cause = 'SIZE' and not coalesce(ascends, true)

-- expected
'ascending positions'

-- observed
'a position at or below the one before it'

-- seqs
array(taken_before, seq)

-- over taken: the end of a pass compared with its begin
op = 'PASS_END' and cause = 'SIZE' and (bound <> begun_bound or cache <> begun_cache)

-- expected
concat('to free ', coalesce(cast(begun_bound as string), 'unknown'), coalesce(concat(' in ', begun_cache), ''))

-- observed
concat('to free ', coalesce(cast(bound as string), 'unknown'), coalesce(concat(' in ', cache), ''))

-- seqs
array(pass_id, seq)

-- over shares
place = 'END' and alone and gives and too_little and (of_one or not gave_none)

-- expected
concat('at least ', cast(share_bytes as string), ' bytes from ', cache)

-- observed
concat(cast(gave_bytes as string), ' bytes')

-- seqs
array(pass_id, seq)

-- sure
not many
