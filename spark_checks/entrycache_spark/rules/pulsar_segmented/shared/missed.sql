-- Each range that was asked for and not answered, with the number of its positions that were cached then. Entries are
-- searched in groups of 64 positions, and only for ranges no longer than the number of all entries.
with questions as (
  select
    e.broker, seq, e.life, op, cause, cache, ledger_id, entry_id, many, b.fresh and e.island = b.first_island as whole,
    lag(struct(seq as at, cause as cause, cache as cache, ledger_id as ledger_id, entry_id as entry_id, op as op)) over line
      as first,
    lead(struct(seq as at, op as op, cause as cause)) over line as after
  from events e join brokers b on e.broker = b.broker
  window line as (partition by e.broker order by seq)
),
came as (
  select broker, count(*) as entries from events where op = 'INSERT' group by broker
),
missed as (
  select
    a.broker, a.seq, a.life, a.many, a.cache, a.ledger_id, first.at as first_seq, first.entry_id as first_entry,
    a.entry_id as last_entry, a.entry_id - first.entry_id + 1 as span
  from questions a join came c on a.broker = c.broker
  where a.op = 'ASK' and a.cause = 'LAST' and a.whole and first.op = 'ASK' and first.cause = 'FIRST'
    and after.at = a.seq + 1 and not coalesce(after.op = 'HIT' and after.cause = 'READ', false)
    and first.cache = a.cache and first.ledger_id = a.ledger_id
    and first.entry_id >= 0 and first.entry_id <= a.entry_id and a.entry_id - first.entry_id < c.entries
),
stays as (
  select
    broker, seq, op, cache, ledger_id, entry_id,
    lead(seq) over (partition by broker, cache, ledger_id, entry_id order by seq) as until_seq
  from events
  where op in ('INSERT', 'EVICT') and entry_id is not null and broker in (select broker from missed)
),
spread as (
  select *, explode(sequence(cast(first_entry div 64 as bigint), cast(last_entry div 64 as bigint))) as bucket
  from missed
)
select
  m.broker, m.seq, m.life, m.many, m.first_seq, m.span, count(*) as cached
from spread m join stays s
  on m.broker = s.broker and m.cache = s.cache and m.ledger_id = s.ledger_id and m.bucket = s.entry_id div 64
where s.op = 'INSERT' and s.seq < m.seq and coalesce(s.until_seq > m.seq, true)
  and s.entry_id >= m.first_entry and s.entry_id <= m.last_entry
group by m.broker, m.seq, m.life, m.many, m.first_seq, m.span
