-- R-INFLIGHT-4: each read that an answer brings an entry takes 1 from its count, once. With variant `failed_read`
-- `counted` a read also takes 1 when it gives an entry back that it reads again, so then the rule checks no second row.
-- The read had begun when the answer came, and had not ended when the ask was sent.

-- checked
op = 'READ_DONE' and cause = 'DELIVERED' and (read_id is not null or ask_id is not null)

-- needs
entry_id of READ_DONE
read_id of READ_BEGIN

-- over delivered
op = 'READ_DONE' and done_before is not null and not counts_failed

-- expected
'one READ_DONE for each entry of a read'

-- observed
concat('a second one of ', cast(ledger_id as string), ':', cast(entry_id as string), ' by the read of seq ', cast(read_id as string))

-- seqs
array(done_before, seq)

-- over asked: a delivery of what its ask did not bring
op = 'READ_DONE' and (
  answered_seq is null or given_last is null or ledger_id <> asked_ledger or not entry_id between asked_first and given_last
)

-- expected
case
  when answered_seq is null then 'an answer before its deliveries'
  when given_last is null then 'no delivery: the ask has failed'
  else concat(
    'an entry of ', cast(asked_ledger as string), ':', cast(asked_first as string), ' to ', cast(given_last as string)
  )
end

-- observed
concat('a delivery of ', cast(ledger_id as string), ':', cast(entry_id as string))

-- seqs
case when answered_seq is null then array(seq) else array(answered_seq, seq) end

-- sure
known

-- over delivered: to a read that has not begun, had ended before the ask was sent, or is one of another cache
op = 'READ_DONE' and (begun_seq is null or (not many and ended_seq < ask_id) or cache <> begun_cache)

-- expected
case
  when begun_seq is null then 'a read that has begun' when ended_seq < ask_id then 'a read that waits for the ask'
  else concat('a read of ', cache)
end

-- observed
concat('a delivery to the read of seq ', cast(read_id as string))

-- seqs
case
  when ended_seq < ask_id then array(ended_seq, seq) when begun_seq is not null then array(begun_seq, seq)
  else array(seq)
end

-- sure
known and not many

-- over asked: to a read that began after the answer
op = 'READ_DONE' and not many and read_id > answered_seq

-- expected
'a read that waits for the ask'

-- observed
concat('a delivery to the read of seq ', cast(read_id as string))

-- seqs
array(answered_seq, seq)

-- sure
known and not many
