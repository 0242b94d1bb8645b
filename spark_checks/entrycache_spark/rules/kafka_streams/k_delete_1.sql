-- K-DELETE-1: a delete removes a cached entry, once. (A DELETE without a life found no entry and removes none.)

-- checked
op = 'DELETE' and coalesce(cause, 'CALL') <> 'FLUSH' and life is not null

-- needs
life of DELETE

-- over streamed
op = 'DELETE' and coalesce(cause, 'CALL') <> 'FLUSH' and whole and life <> life_shown and life <> life_by_writes

-- expected
case when live then concat('life ', cast(life_by_writes as string)) else 'no DELETE: nothing is cached under this key' end

-- observed
concat('a DELETE of life ', cast(life as string))

-- seqs
case when seen_seq is null then array(seq) else array(seen_seq, seq) end

-- sure
not many
