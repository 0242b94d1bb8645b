-- L-READ-1: `get` hits exactly when the position is cached, and finds the entry that is cached there. (With variant
-- `single_lookup` "object" it always misses, L-READ-7; then a hit is one of `get_range`.)

-- checked
op in ('HIT', 'MISS') and cause = 'GET'

-- needs
entry_id of INSERT
entry_id of HIT GET, MISS GET

-- over placed
cause = 'GET' and (
  (op = 'MISS' and held_before = 1 and not by_object)
  or (op = 'HIT' and coalesce(held_before = 0 or life <> life_before, false))
)

-- expected
case
  when op = 'MISS' then concat('HIT of life ', cast(life_before as string))
  when held_before = 1 then concat('life ', cast(life_before as string))
  else 'MISS'
end

-- observed
concat(op, ' of life ', coalesce(cast(life as string), 'none'))

-- seqs
case when changed_seq is null then array(seq) else array(changed_seq, seq) end

-- sure: with several threads a lookup may be recorded after the event that it overtook
not many
