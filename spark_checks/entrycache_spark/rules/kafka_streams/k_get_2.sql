-- K-GET-2: a lookup misses only if nothing is cached under its key.

-- checked
op = 'MISS'

-- needs
key_hash of PUT, MISS

-- over streamed
op = 'MISS' and whole and live and life_shown <> -9223372036854775807

-- expected
concat('a HIT of life ', cast(life_by_writes as string))

-- observed
'a MISS'

-- life
life_by_writes

-- seqs
array(put_seq, seq)

-- sure
not many
