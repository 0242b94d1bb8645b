-- R-INFLIGHT-1: an ask is open until it is answered, so an answer is about an ask that was sent and not answered yet, and
-- about its range. A short answer brings the first entries of it, and not all.

-- checked
op = 'ANSWER'

-- needs
ask_id of ASK, ANSWER
entry_id of ASK, ANSWER
last_entry_id of ASK, ANSWER

-- over asked
op = 'ANSWER' and (
  asked_seq is null or answered_seq is not null or cache <> asked_cache or ledger_id <> asked_ledger or entry_id <> asked_first
  or case when cause is null then last_entry_id > asked_last when cause = 'SHORT' then not last_entry_id between entry_id and asked_last - 1 else last_entry_id <> asked_last end
)

-- expected
case
  when asked_seq is null then 'an ask before its answer'
  when answered_seq is not null then 'one answer'
  else concat(
    'an answer to ', asked_cache, ' ', cast(asked_ledger as string), ':', cast(asked_first as string), ' to ',
    cast(asked_last as string)
  )
end

-- observed
concat(
  'ANSWER ', cause, ' to ', coalesce(cache, 'unknown'), ' ', cast(ledger_id as string), ':', cast(entry_id as string), ' to ',
  cast(last_entry_id as string)
)

-- seqs
case
  when asked_seq is null then array(seq) when answered_seq is not null then array(answered_seq, seq)
  else array(asked_seq, seq)
end

-- sure
known
