-- R-INFLIGHT-3: a fill that names its ask comes after the answer, is one of the entries that the answer brought, and is
-- made for the cursor that asked. R-CURSOR-7 checks its count against the rank of that cursor.

-- checked
op = 'INSERT' and cause = 'FILL' and ask_id is not null

-- needs
entry_id of INSERT FILL
last_entry_id of ASK, ANSWER

-- over asked
op = 'INSERT' and (
  answered_seq is null or given_last is null or ledger_id <> asked_ledger or cache <> asked_cache
  or not entry_id between asked_first and given_last or cursor <> asked_cursor
)

-- expected
case
  when answered_seq is null then 'an answer before its fills'
  when given_last is null then 'no fill: the ask has failed'
  else concat(
    'an entry of ', asked_cache, ' ', cast(asked_ledger as string), ':', cast(asked_first as string), ' to ',
    cast(given_last as string), ', for ', coalesce(asked_cursor, 'no cursor')
  )
end

-- observed
concat(
  'a fill of ', cache, ' ', cast(ledger_id as string), ':', cast(entry_id as string), ', for ', coalesce(cursor, 'no cursor')
)

-- seqs
case when answered_seq is null then array(seq) else array(answered_seq, seq) end

-- sure
known and not many
