-- R-READ-7: a read serves from the cache exactly the entries that are cached when it begins, and looks up all of its
-- range before it caches a fill. A MISS with an `ask_id` counts what storage gave, when it gave it, and is no lookup.

-- checked
op in ('HIT', 'MISS') and cause = 'READ'

-- needs
entry_id of INSERT
entry_id of HIT READ, MISS READ

-- over placed
cause = 'READ' and ((op = 'MISS' and held_before = 1 and ask_id is null) or (op = 'HIT' and coalesce(held_before = 0 or life <> life_before, false)))

-- expected
case when op = 'MISS' then concat('HIT of life ', cast(life_before as string)) else
  case when held_before = 1 then concat('life ', cast(life_before as string)) else 'MISS' end
end

-- observed
concat(op, ' of life ', coalesce(cast(life as string), 'none'))

-- seqs
case when changed_seq is null then array(seq) else array(changed_seq, seq) end

-- sure: with several threads a lookup may be recorded after the event that it overtook
not many

-- over calls: only reads that name no cursor, and no ask; a call of a reader may be several reads, one after the other
op in ('HIT', 'MISS') and unasked_seq is not null

-- expected
'all lookups of a read before its fills'

-- observed
concat(op, ' after a fill of the same call')

-- seqs
array(unasked_seq, seq)

-- sure: with several threads another call may fill an entry that this one reads from storage
not many
