-- Each METRICS event with the events since the start (a sum of bytes is null if a row of it has no size), and the METRICS event before it in the same island.
with summed as (
  select
    e.broker, seq, e.life, op, island, many, value, storage_bytes, coalesce(manager_bytes, bytes_after) as held,
    b.fresh and e.island = b.first_island as whole,
    sum(case when op = 'INSERT' then 1 else 0 end)
      over (partition by e.broker, island order by seq rows between unbounded preceding and current row) as n_inserted,
    sum(case when op in ('EVICT', 'REMOVE') then 1 else 0 end)
      over (partition by e.broker, island order by seq rows between unbounded preceding and current row) as n_evicted,
    sum(case when op = 'PASS_BEGIN' and cause = 'SIZE' and origin in ('TRIGGER', 'CYCLE') and bound > 0 then 1 else 0 end)
      over (partition by e.broker, island order by seq rows between unbounded preceding and current row) as n_cycles,
    sum(case when op = 'HIT' and cause in ('READ', 'REPLAY') then 1 else 0 end)
      over (partition by e.broker, island order by seq rows between unbounded preceding and current row) as n_hits,
    sum(case when op = 'HIT' and cause in ('READ', 'REPLAY') then size_bytes else 0 end)
      over (partition by e.broker, island order by seq rows between unbounded preceding and current row) as sum_of_hits,
    max(case when op = 'HIT' and cause in ('READ', 'REPLAY') and size_bytes is null then 1 else 0 end)
      over (partition by e.broker, island order by seq rows between unbounded preceding and current row) as unsized_hits,
    sum(case when op = 'MISS' and cause in ('READ', 'REPLAY') then 1 else 0 end)
      over (partition by e.broker, island order by seq rows between unbounded preceding and current row) as n_misses,
    sum(case when op = 'MISS' and cause in ('READ', 'REPLAY') then coalesce(size_bytes, storage_bytes) else 0 end)
      over (partition by e.broker, island order by seq rows between unbounded preceding and current row) as sum_of_misses,
    max(case when op = 'MISS' and cause in ('READ', 'REPLAY') and size_bytes is null and (ask_id is not null or cursor is not null) then 1 else 0 end)
      over (partition by e.broker, island order by seq rows between unbounded preceding and current row) as unsized_misses
  from events e join brokers b on e.broker = b.broker
),
reported as (
  select
    *,
    case when unsized_hits = 0 then sum_of_hits end as n_hit_bytes,
    case when unsized_misses = 0 then sum_of_misses end as n_miss_bytes,
    counter(value, 'inserted_entries') as inserted, counter(value, 'evicted_entries') as evicted,
    counter(value, 'eviction_cycles') as cycles, counter(value, 'hit_entries') as hits,
    counter(value, 'hit_bytes') as hit_bytes, counter(value, 'miss_entries') as misses,
    counter(value, 'miss_bytes') as miss_bytes
  from summed
  where op = 'METRICS'
)
select
  *,
  lag(seq) over (partition by broker, island order by seq) as metrics_before,
  lag(inserted - n_inserted) over (partition by broker, island order by seq) as inserted_off,
  lag(evicted - n_evicted) over (partition by broker, island order by seq) as evicted_off,
  lag(cycles - n_cycles) over (partition by broker, island order by seq) as cycles_off,
  lag(hits - n_hits) over (partition by broker, island order by seq) as hits_off,
  lag(hit_bytes - n_hit_bytes) over (partition by broker, island order by seq) as hit_bytes_off,
  lag(misses - n_misses) over (partition by broker, island order by seq) as misses_off,
  lag(miss_bytes - n_miss_bytes) over (partition by broker, island order by seq) as miss_bytes_off
from reported
