-- R-READ-10: a single read (cause REPLAY) serves a cached entry, and does not cache an entry that it reads from
-- storage. A trace distinguishes a `read_one` from a `read` of one position only by this, so the rule does not check
-- cause READ.

-- checked
op in ('HIT', 'MISS') and cause = 'REPLAY'

-- needs
entry_id of INSERT
entry_id of HIT REPLAY, MISS REPLAY

-- over placed
cause = 'REPLAY' and ((op = 'MISS' and held_before = 1 and ask_id is null) or (op = 'HIT' and coalesce(held_before = 0 or life <> life_before, false)))

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

-- over placed: a fill
op = 'INSERT' and cause = 'FILL' and missed_cause = 'REPLAY' and missed_call = call_id

-- expected
'no fill'

-- observed
'a fill of what a single read has missed'

-- seqs
array(missed_seq, seq)

-- sure
not many
