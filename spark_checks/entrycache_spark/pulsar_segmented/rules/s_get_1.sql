-- S-GET-1: a lookup hits exactly when some segment holds the position, and finds the entry that is cached there.

-- checked
op in ('HIT', 'MISS') and cause = 'GET'

-- needs
entry_id of INSERT
entry_id of HIT GET, MISS GET

-- over ringed
whole and cause = 'GET'
and (
  (op = 'MISS' and held_before = 1) or (op = 'HIT' and (coalesce(held_before = 0, true) or life <> life_before))
)

-- expected
case when held_before = 1 then concat('a HIT of life ', cast(life_before as string)) else 'a MISS' end

-- observed
concat(op, ' of life ', coalesce(cast(life as string), 'none'))

-- seqs
case when changed_seq is null then array(seq) else array(changed_seq, seq) end

-- sure
not many
