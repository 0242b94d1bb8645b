-- Each call that removes entries, beside the entries of its range that were cached before it and after it. The range of
-- a call is what its rows show: a ledger, a cache, up to the highest position removed, or from the lowest to the highest.
with calls as (
  select
    broker, call_id, cache, cause, case when cause = 'LEDGER' then ledger_id end as ledger,
    min(seq) as first_seq, max(seq) as last_seq,
    min(array(ledger_id, entry_id)) as lowest, max(array(ledger_id, entry_id)) as highest
  from events
  where op = 'REMOVE' and cause in ('RANGE', 'CLEAR', 'CURSOR', 'LEDGER') and entry_id is not null and call_id is not null
  group by broker, call_id, cache, cause, case when cause = 'LEDGER' then ledger_id end
  union all
  select
    broker, call_id, cache, 'CLOSE' as cause, cast(null as bigint) as ledger,
    min(seq) as first_seq, max(seq) as last_seq,
    cast(null as array<bigint>) as lowest, cast(null as array<bigint>) as highest
  from events
  where (op = 'CACHE_CLOSE' or (op = 'REMOVE' and cause = 'CLOSE')) and call_id is not null
  group by broker, call_id, cache
),
lives as (
  select
    e.broker, e.life, max(case when many then 1 else 0 end) = 1 as many,
    max(case when begins then cache end) as cache,
    max(case when begins then ledger_id end) as ledger_id, max(case when begins then entry_id end) as entry_id,
    min(case when begins then seq end) as begin_seq,
    min(case when op in ('EVICT', 'REMOVE') then seq end) as removed_seq
  from (select *, op = 'INSERT' or (op = 'SNAPSHOT' and cause = 'OPEN') as begins from events) e
  where e.life is not null and (begins or op in ('EVICT', 'REMOVE'))
    and e.broker in (select broker from calls)
  group by e.broker, e.life
  having count(case when begins then 1 end) = 1
),
ends as (
  select broker, max(last_seq) as last_seq from calls group by broker
),
spread as (
  select
    l.*, explode(
      sequence(cast(begin_seq div 16384 as bigint), cast(greatest(begin_seq, least(coalesce(removed_seq, last_seq), last_seq)) div 16384 as bigint))
    ) as bucket
  from lives l join ends n on l.broker = n.broker
  where begin_seq is not null and entry_id is not null
),
found as (
  select
    c.broker, c.last_seq as seq, c.cause, s.many, s.life, s.begin_seq, s.removed_seq
  from spread s join calls c
    on s.broker = c.broker and s.cache = c.cache and s.bucket = c.first_seq div 16384
  where s.begin_seq < c.first_seq and (s.removed_seq is null or s.removed_seq > c.last_seq)
    and case
      when c.cause = 'LEDGER' then s.ledger_id = c.ledger
      when c.cause = 'CURSOR' then array(s.ledger_id, s.entry_id) <= c.highest
      when c.cause = 'RANGE' then
        array(s.ledger_id, s.entry_id) >= c.lowest and array(s.ledger_id, s.entry_id) <= c.highest
      else true
    end
)
select
  f.broker, f.seq, f.cause, max(case when f.many then 1 else 0 end) = 1 as many, min(f.life) as life, min(f.begin_seq) as begin_seq, count(*) as left_over,
  min(f.removed_seq) as removed_seq, max(case when b.gapped then 1 else 0 end) = 0 as unbroken
from found f join brokers b on f.broker = b.broker
group by f.broker, f.seq, f.cause
