-- S-SEGMENT-4: a segment that does not take an entry keeps its offset: the offset that PASS_BEGIN shows follows from
-- the entries that the segment took, and a skipped entry moves no offset.

-- checked
op in ('PASS_BEGIN', 'SKIP')

-- needs
bound or manager_bytes of PASS_BEGIN TURN

-- over ringed
whole and (
  (op = 'PASS_BEGIN' and case when insert_seq is null or is_first then bound <> 0 else is_astray end)
  or (op in ('PASS_BEGIN', 'SKIP') and is_miswritten)
)

-- expected
concat('an offset of ', cast(generation_bytes as string), ', offsets of ', cast(manager_shown as string), ' bytes in all')

-- observed
concat('bound ', coalesce(cast(bound as string), 'unknown'), ', manager_bytes ', coalesce(cast(manager_bytes as string), 'unknown'))

-- seqs
case when last_in_seq is null then array(seq) else array(last_in_seq, seq) end

-- sure
not many
