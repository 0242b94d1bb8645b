-- R-INFLIGHT-2: storage is not asked for an entry while an ask for it can be joined. An ask can be joined until it is
-- answered, or until another ask of its ledger has failed. While caching is off, none can.

-- checked
op = 'ASK'

-- needs
ask_id of ASK, ANSWER
entry_id of ASK
last_entry_id of ASK
CONFIG.max_size_bytes of ASK

-- window: an ask that overlaps an earlier one; the latest such ask is shown
with ends as (
  select
    e.*,
    min(case when op = 'ANSWER' then seq end) over
      (partition by broker, ask_id order by seq rows between 1 following and unbounded following) as answer_seq,
    min(case when op = 'ANSWER' and cause = 'FAIL' then seq end) over
      (partition by broker, cache, ledger_id order by seq rows between 1 following and unbounded following) as fail_seq
  from events e
  where op in ('ASK', 'ANSWER') and ask_id is not null
),
asks as (
  select
    broker, cache, ledger_id, seq, entry_id, last_entry_id, many,
    least(coalesce(answer_seq, 9223372036854775807), coalesce(fail_seq, 9223372036854775807)) as until_seq
  from ends
  where op = 'ASK' and limit_now > 0
),
overlaps as (
  select
    a.broker, a.seq, a.ledger_id, a.entry_id, a.last_entry_id, a.many, max(o.seq) as other_seq,
    max(greatest(a.entry_id, o.entry_id)) as shared_entry
  from asks a join asks o
    on a.broker = o.broker and a.cache = o.cache and a.ledger_id = o.ledger_id and o.seq < a.seq and a.seq < o.until_seq
    and o.entry_id <= a.last_entry_id and a.entry_id <= o.last_entry_id
  group by a.broker, a.seq, a.ledger_id, a.entry_id, a.last_entry_id, a.many
)
select
  o.broker, seq, cast(null as bigint) as life,
  concat('a wait for the ask at seq ', cast(other_seq as string)) as expected,
  concat('an ask for ', cast(ledger_id as string), ':', cast(entry_id as string), ' to ', cast(last_entry_id as string), ', with ', cast(shared_entry as string)) as observed,
  array(other_seq, seq) as seqs,
  not many and b.starts and not b.gapped as sure
from overlaps o join brokers b on o.broker = b.broker
