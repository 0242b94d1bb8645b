-- R-LEDGER-17: a deleted ledger loses all its entries, and nothing of it is appended, filled, asked for or found any more.
-- Only a deletion drops the entries of a whole ledger, if a managed ledger reads by cursors; a real broker may drop them for
-- a reason of its own. With several threads the rows of other threads may come between.

-- checked
op = 'LEDGER_DELETE' or (op = 'REMOVE' and cause = 'LEDGER')

-- window
with gone as (
  select broker, cache, ledger_id, min(seq) as deleted_seq
  from events where op = 'LEDGER_DELETE' and ledger_id is not null group by broker, cache, ledger_id
),
reading as (
  select distinct broker, cache from events where op = 'READ_BEGIN'
)
select
  e.broker, e.seq, e.life,
  concat('nothing of ledger ', cast(e.ledger_id as string), ', which was deleted') as expected,
  concat(e.op, coalesce(concat(' ', e.cause), ''), coalesce(concat(' of entry ', cast(e.entry_id as string)), '')) as observed,
  array(g.deleted_seq, e.seq) as seqs,
  b.starts and not b.gapped
    and (not e.many or (e.op = 'INSERT' and e.cause = 'ADD') or (e.op = 'SNAPSHOT' and e.cause = 'END')) as sure
from events e
join gone g on e.broker = g.broker and e.cache = g.cache and e.ledger_id = g.ledger_id and e.seq > g.deleted_seq
join brokers b on e.broker = b.broker
where e.op in ('LEDGER_DELETE', 'INSERT', 'ASK', 'HIT')
  or (e.life < g.deleted_seq and (e.op in ('EVICT', 'REQUEUE', 'SNAPSHOT') or (e.op = 'REMOVE' and e.cause <> 'LEDGER')))
union all
select
  e.broker, e.seq, e.life,
  concat('LEDGER_DELETE of ledger ', cast(e.ledger_id as string)) as expected,
  concat('REMOVE LEDGER of entry ', cast(e.entry_id as string)) as observed,
  array(e.seq) as seqs,
  b.starts and not b.gapped and e.virtual as sure
from events e
join reading r on e.broker = r.broker and e.cache = r.cache
join brokers b on e.broker = b.broker
left join gone g on e.broker = g.broker and e.cache = g.cache and e.ledger_id = g.ledger_id
where e.op = 'REMOVE' and e.cause = 'LEDGER' and (g.deleted_seq is null or g.deleted_seq > e.seq)
