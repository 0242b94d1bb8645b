-- S-RANGE-2: a range with a position that is not cached is not answered: no entry that is not there, and no part.

-- checked
op = 'ASK' and cause = 'LAST'

-- needs
entry_id of ASK FIRST, ASK LAST
entry_id of INSERT ADD

-- over ringed: an entry that is not there
op = 'HIT' and cause = 'READ' and whole and is_placed and (coalesce(held_before = 0, true) or life <> life_before)

-- expected
case when held_before = 1 then concat('life ', cast(life_before as string)) else 'no HIT' end

-- observed
concat('HIT of life ', coalesce(cast(life as string), 'none'))

-- seqs
case when changed_seq is null then array(seq) else array(changed_seq, seq) end

-- sure
not many

-- over ringed: a part
op = 'HIT' and cause = 'READ' and whole and last_asked.at > first_asked.at and first_asked.ledger_id = last_asked.ledger_id
and entry_id <> last_asked.entry_id and after.at = seq + 1 and not (after.op = 'HIT' and coalesce(after.cause = 'READ', false))

-- expected
concat('HIT rows up to entry ', cast(last_asked.entry_id as string), ', or none')

-- observed
concat('the last one of entry ', cast(entry_id as string))

-- seqs
array(first_asked.at, seq)

-- sure
not many
