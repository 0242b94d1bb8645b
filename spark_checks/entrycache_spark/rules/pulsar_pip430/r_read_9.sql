-- R-READ-9: a fill carries a count of at least 1 and is of a position that its own call has missed. The fills of one
-- read ascend and carry the same count. (If a cursor is named, R-CURSOR-7 gives the count. If no call is named, only
-- the count is checked. With several threads a lookup of a range may have no MISS row.)

-- checked
op = 'INSERT' and cause = 'FILL'

-- needs
ever expected_reads of INSERT FILL
entry_id of INSERT FILL

-- over placed
op = 'INSERT' and cause = 'FILL'
and (
  coalesce(expected_reads < 1, true)
  or (call_id >= first_seq and not gapped and coalesce(missed_call <> call_id, not many))
)

-- expected
'a count of at least 1, and a MISS in the same call'

-- observed
concat(
  'expected_reads ', coalesce(cast(expected_reads as string), 'null'), ', last MISS in call ',
  coalesce(cast(missed_call as string), 'none')
)

-- seqs
case when missed_seq is null then array(seq) else array(missed_seq, seq) end

-- sure: with several threads another call may have missed it in between
not many or coalesce(expected_reads < 1, true)

-- over calls
op = 'INSERT'
and (
  expected_reads <> filled_count or ledger_id <> filled_ledger or (ledger_id = filled_ledger and entry_id <= filled_entry)
)

-- expected
concat('after ', cast(filled_entry as string), ', expected_reads ', coalesce(cast(filled_count as string), 'null'))

-- observed
concat('entry ', cast(entry_id as string), ', expected_reads ', coalesce(cast(expected_reads as string), 'null'))

-- seqs
array(filled_seq, seq)

-- sure
not many
