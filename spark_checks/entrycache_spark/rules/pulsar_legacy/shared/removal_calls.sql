-- Each call that removes entries or finds several, and the removals of each pass from a cache, with the lowest and the
-- highest position that its rows show.
select
  broker, call_id, cache, cause, case when cause = 'LEDGER' then ledger_id end as ledger,
  min(seq) as first_seq, max(seq) as last_seq, count(*) as n_rows,
  min(case when ledger_id is not null then array(ledger_id, entry_id) end) as lowest,
  max(case when ledger_id is not null then array(ledger_id, entry_id) end) as highest
from events
where op = 'REMOVE' and cause in ('RANGE', 'CLEAR', 'CURSOR', 'LEDGER') and entry_id is not null and call_id is not null
group by broker, call_id, cache, cause, case when cause = 'LEDGER' then ledger_id end
union all
select
  broker, call_id, cache, 'CLOSE' as cause, cast(null as bigint) as ledger,
  min(seq) as first_seq, max(seq) as last_seq, count(*) as n_rows,
  cast(null as array<bigint>) as lowest, cast(null as array<bigint>) as highest
from events
where (op = 'CACHE_CLOSE' or (op = 'REMOVE' and cause = 'CLOSE')) and call_id is not null
group by broker, call_id, cache
union all
select
  broker, group_id as call_id, cache, cause, cast(null as bigint) as ledger,
  min(seq) as first_seq, max(seq) as last_seq, count(*) as n_rows,
  min(array(ledger_id, entry_id)) as lowest, max(array(ledger_id, entry_id)) as highest
from (
  select *, case when op = 'EVICT' then pass_id else call_id end as group_id
  from events
  where (op = 'EVICT' and cause in ('TIME', 'SIZE')) or (op = 'HIT' and cause = 'GET')
) as grouped
where entry_id is not null and ledger_id is not null and group_id is not null
group by broker, group_id, cache, cause
having cause <> 'GET' or count(*) > 1
