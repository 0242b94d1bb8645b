-- Each call of `removal_calls` with the entries of its range that were cached before it and after it (`left_over`). The
-- range is a ledger, a cache, all up to the highest position of its rows, or from the lowest to the highest.
with calls as (
  select * from over_removal_calls
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
  where begin_seq is not null and ledger_id is not null and entry_id is not null
),
leftovers as (
  select
    c.broker, c.last_seq as seq, c.cause, c.n_rows, s.many, s.life, s.begin_seq, s.removed_seq
  from spread s join calls c
    on s.broker = c.broker and s.cache = c.cache and s.bucket = c.first_seq div 16384
  where s.begin_seq < c.first_seq and (s.removed_seq is null or s.removed_seq > c.last_seq)
    and case
      when c.cause = 'LEDGER' then s.ledger_id = c.ledger
      when c.cause in ('CURSOR', 'TIME', 'SIZE') then array(s.ledger_id, s.entry_id) <= c.highest
      when c.cause in ('RANGE', 'GET') then
        array(s.ledger_id, s.entry_id) >= c.lowest and array(s.ledger_id, s.entry_id) <= c.highest
      else true
    end
)
select
  f.broker, f.seq, f.cause, max(case when f.many then 1 else 0 end) = 1 as many, min(f.life) as life, min(f.begin_seq) as begin_seq, count(*) as left_over, max(f.n_rows) as n_rows,
  min(f.removed_seq) as removed_seq, max(case when b.gapped then 1 else 0 end) = 0 as unbroken
from leftovers f join brokers b on f.broker = b.broker
group by f.broker, f.seq, f.cause
