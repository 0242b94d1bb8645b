-- K-GET-1: a hit finds the cached entry: the life that the key's last PUT began and that has not ended.

-- checked
op = 'HIT'

-- needs
life of HIT
key_hash of PUT

-- over streamed
op = 'HIT' and whole and coalesce(life <> life_shown and life <> life_by_writes, true)

-- expected
case when live then concat('life ', cast(life_by_writes as string)) else 'a MISS: nothing is cached under this key' end

-- observed
concat('a HIT of life ', coalesce(cast(life as string), 'null'))

-- seqs
case when seen_seq is null then array(seq) else array(seen_seq, seq) end

-- sure
not many
