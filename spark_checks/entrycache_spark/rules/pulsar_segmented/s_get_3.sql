-- S-GET-3: a lookup returns the payload of the entry's insert, as `key_hash` shows.

-- checked
op = 'HIT' and life is not null and key_hash is not null

-- needs
ever key_hash of INSERT
ever key_hash of HIT GET, HIT READ

-- over ringed
op = 'HIT' and whole and key_hash <> begun.key_hash and coalesce(key_hash <> key_before, true)

-- expected
concat('payload ', cast(begun.key_hash as string))

-- observed
concat('payload ', cast(key_hash as string))

-- seqs
array(begun.at, seq)
