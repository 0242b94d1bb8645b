-- R-INFLIGHT-3: a fill that names its ask comes after the answer, is one of the entries that the answer brought, and is
-- made for the cursor that asked. R-CURSOR-7 checks its count against the rank of that cursor. If each MISS of the reads of
-- a cache names its ask, an answer has one MISS for each entry that it brings.

-- checked
op in ('INSERT', 'MISS') and ask_id is not null

-- needs
entry_id of INSERT FILL
last_entry_id of ASK, ANSWER

-- window
with answers as (
  select
    broker, ask_id,
    max(case when op = 'ANSWER' then seq end) as answered_seq,
    max(case when op = 'ANSWER' then cache end) as cache,
    sum(case when op = 'ANSWER' and cause in ('ALL', 'SHORT') then last_entry_id - entry_id + 1 else 0 end) as given,
    sum(case when op = 'MISS' then 1 else 0 end) as missed,
    max(case when many then 1 else 0 end) = 1 as many
  from events
  where ask_id is not null and op in ('ANSWER', 'MISS')
  group by broker, ask_id
),
naming as (
  select broker, cache
  from events
  where op = 'MISS' and cause in ('READ', 'REPLAY')
  group by broker, cache
  having count(ask_id) = count(*)
)
select
  a.broker, a.answered_seq as seq, cast(null as bigint) as life,
  concat('a MISS for each of ', cast(given as string), ' entries') as expected,
  concat(cast(missed as string), ' MISS rows of the ask of seq ', cast(a.ask_id as string)) as observed,
  array(a.ask_id, a.answered_seq) as seqs,
  b.complete and not many as sure
from answers a
join naming n on a.broker = n.broker and a.cache = n.cache
join brokers b on a.broker = b.broker
where given <> missed

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
