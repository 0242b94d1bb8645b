-- S-INSERT-1: an entry that is not cached is added: a life of its own, in the current segment, after all entries that
-- are there. It is not rejected as a duplicate, and not skipped because caching is disabled.

-- checked
op = 'INSERT' or (op = 'REJECT' and cause = 'DUPLICATE') or (op = 'SKIP' and cause = 'DISABLED')

-- needs
bound of INSERT ADD
CONFIG.mode of INSERT ADD

-- over ringed: its life, and its segment
op = 'INSERT' and whole and (life <> seq or (tail_no <> turn_now and tail_no <> turns))

-- expected
concat('life ', cast(seq as string), ' in the segment of turn ', cast(turn_now as string))

-- observed
concat('life ', coalesce(cast(life as string), 'none'), ' in that of turn ', coalesce(cast(tail_no as string), 'unknown'))

-- sure
not many or coalesce(life <> seq, false)

-- over ringed: its start
op = 'INSERT' and whole and not is_first and is_astray

-- expected
concat('a start at byte ', cast(generation_bytes as string))

-- observed
concat('byte ', cast(bound as string))

-- seqs
array(last_in_seq, seq)

-- sure
not many

-- over ringed: a skipped entry
whole and (
  (op = 'REJECT' and cause = 'DUPLICATE' and is_placed and coalesce(held_before = 0, true))
  or (op = 'SKIP' and cause = 'DISABLED' and limit_now > 0)
)

-- expected
'INSERT'

-- observed
concat(op, ' ', cause)

-- seqs
case when changed_seq is null then array(seq) else array(changed_seq, seq) end

-- sure
not many
