-- S-RING-2: the entries that a segment held before it became current are not cached afterwards: when the turn ends they
-- have all left, and none of them is hit.

-- checked
op = 'PASS_END' or (op = 'HIT' and life is not null)

-- needs
life of EVICT TURN
CONFIG.segments or CONFIG.max_size_bytes of PASS_END TURN

-- over ringed: the entries left
op = 'PASS_END' and whole and live_in_generation > 0

-- expected
'an EVICT of each entry of the segment'

-- observed
concat(cast(live_in_generation as string), ' left')

-- seqs
case when edge.at is null then array(seq) else array(edge.at, seq) end

-- sure
not many

-- over ringed: a hit of an entry that should have left
op = 'HIT' and whole and gone_seq is null and begun.generation <= turn_now - segments_now and begun.generation <= turns - segments_now

-- expected
concat('no HIT of an entry of turn ', cast(begun.generation as string), ' in turn ', cast(turn_now as string))

-- observed
concat('a HIT of life ', cast(life as string))

-- seqs
array(begun.at, turn_seq, seq)

-- sure
not many
