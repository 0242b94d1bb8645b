-- Each event of a stream thread's cache beside what the events before it tell: of its key (`told`: by writes and ends
-- alone; `shown`: as the key's last event showed it), of its namespace, of its broker and of its call.
with kept as (
  select
    e.broker, e.seq, ts_ns, case when op = 'FLUSH' and cause = 'FAILED' then 'FAILED' else op end as op, cause, cache,
    key_hash, e.life, size_bytes, coalesce(dirty, false) as dirty, call_id, bytes_after, manager_bytes, value, many,
    limit_now, limit_before, b.gapped, b.fresh and e.island = b.first_island as whole
  from events e join brokers b on e.broker = b.broker
),
keyed as (
  select
    *,
    coalesce(
      last_value(
        case
          when op = 'PUT' then seq
          when op = 'HIT' then coalesce(life, -9223372036854775807)
          when op in ('MISS', 'EVICT', 'DELETE', 'REMOVE') then -9223372036854775807
        end, true
      ) over past,
      -9223372036854775807
    ) as life_shown,
    coalesce(
      last_value(
        case when op = 'PUT' then seq when op in ('EVICT', 'DELETE', 'REMOVE') then -9223372036854775807 end, true
      ) over past,
      -9223372036854775807
    ) as life_told,
    last_value(case when op = 'PUT' then seq end, true) over past as put_seq,
    last_value(case when op = 'PUT' then coalesce(size_bytes, 0) end, true) over past as put_size,
    last_value(case when op = 'PUT' then dirty end, true) over past as put_dirty,
    last_value(case when op in ('PUT', 'HIT') then size_bytes end, true) over past as size_shown,
    last_value(case when op in ('PUT', 'HIT') then dirty when op = 'FLUSH' then false end, true) over past as dirty_shown,
    last_value(case when op = 'FLUSH' then coalesce(life, -9223372036854775807) end, true) over past as flushed_life,
    last_value(case when op = 'FLUSH' then coalesce(call_id, -1) end, true) over past as flushed_call,
    max(case when op = 'FLUSH' then seq end) over past as flushed_seq,
    last_value(case when op = 'EVICT' and dirty then coalesce(life, -9223372036854775807) end, true) over past
      as evicted_life,
    last_value(case when op = 'EVICT' and dirty then coalesce(call_id, -1) end, true) over past as evicted_call,
    max(case when op <> 'FAILED' then seq end) over past as seen_seq,
    last_value(case when op = 'EVICT' and dirty then coalesce(life, -9223372036854775807) end, true) over future
      as leaves_life,
    last_value(case when op = 'EVICT' and dirty then coalesce(call_id, -1) end, true) over future as leaves_call
  from kept
  window
    past as (partition by broker, cache, key_hash order by seq rows between unbounded preceding and 1 preceding),
    future as (partition by broker, cache, key_hash order by seq desc rows between unbounded preceding and 1 preceding)
),
judged as (
  select
    *,
    life_told <> -9223372036854775807 as live,
    life_told <> -9223372036854775807 and put_dirty and coalesce(flushed_life <> put_seq, true) as dirty_told,
    op = 'FLUSH' and coalesce(
      (evicted_life = life and evicted_call = call_id) or (leaves_life = life and leaves_call = call_id), false
    ) as is_evicted
  from keyed
),
changed as (
  select
    *,
    case
      when op = 'PUT' then case when live then 0 else 1 end
      when op in ('EVICT', 'DELETE', 'REMOVE') and live then -1
      else 0
    end as entered,
    case
      when op = 'PUT' then case when dirty then 1 else 0 end - case when dirty_told then 1 else 0 end
      when op in ('EVICT', 'DELETE', 'REMOVE') and dirty_told then -1
      when op = 'FLUSH' then
        case when live and put_dirty and coalesce(life <> put_seq, true) then 1 else 0 end
        - case when dirty_told then 1 else 0 end
      else 0
    end as dirtied,
    case
      when op = 'PUT' then coalesce(size_bytes, 0) - case when live then put_size else 0 end
      when op in ('EVICT', 'DELETE', 'REMOVE') and live then - put_size
      else 0
    end as grown,
    last_value(case when op = 'PUT' then true when op = 'CACHE_CLOSE' then false end, true) over upto as written
  from judged
  window upto as (partition by broker, cache order by seq rows between unbounded preceding and current row)
),
spaced as (
  select
    *,
    sum(entered) over upto as live_in_cache,
    sum(dirtied) over upto as dirty_in_cache,
    sum(case when op = 'PUT' and live then 1 else 0 end) over upto as n_overwrites,
    sum(case when op = 'MISS' then 1 else 0 end) over upto as n_misses,
    sum(case when op = 'MISS' and written then 1 else 0 end) over upto as n_sure_misses,
    sum(case when op in ('HIT', 'FLUSH') then 1 when op = 'EVICT' and dirty then -1 else 0 end) over upto as n_hits,
    sum(case when op = 'FAILED' or (op = 'FLUSH' and cause is null) then 1 else 0 end) over upto as n_vague,
    max(case when op = 'CACHE_CLOSE' then seq end) over upto as closed_seq
  from changed
  window upto as (partition by broker, cache order by seq rows between unbounded preceding and current row)
),
since as (
  select
    *,
    n_overwrites - coalesce(last_value(case when op = 'CACHE_CLOSE' then n_overwrites end, true) over upto, 0)
      as own_overwrites,
    n_misses - coalesce(last_value(case when op = 'CACHE_CLOSE' then n_misses end, true) over upto, 0) as own_misses,
    n_sure_misses - coalesce(last_value(case when op = 'CACHE_CLOSE' then n_sure_misses end, true) over upto, 0)
      as own_sure_misses,
    n_hits - coalesce(last_value(case when op = 'CACHE_CLOSE' then n_hits end, true) over upto, 0) as own_hits
  from spaced
  window upto as (partition by broker, cache order by seq rows between unbounded preceding and current row)
),
lined as (
  select
    *,
    lag(seq) over line as seq_before,
    lag(ts_ns) over line as ts_before,
    lag(op) over line as op_before,
    lag(cache) over line as cache_before,
    lag(life) over line as life_before,
    lag(call_id) over line as call_before,
    lag(is_evicted) over line as evicted_before,
    lead(seq) over line as seq_after,
    lead(op) over line as op_after,
    lead(cause) over line as cause_after,
    lead(cache) over line as cache_after,
    lead(call_id) over line as call_after,
    lag(bytes_after) over line + grown as by_row,
    sum(grown) over upto as by_sum,
    sum(entered) over upto as live_in_all,
    sum(case when op = 'PUT' then 1 else 0 end) over upto as n_puts,
    sum(case when op = 'EVICT' then 1 else 0 end) over upto as n_evicts,
    sum(case when op = 'FAILED' then 1 else 0 end) over upto as n_failed,
    max(case when op = 'CONFIG' and limit_now < limit_before then seq end) over upto as shrunk_seq,
    last_value(case when op not in ('HIT', 'MISS', 'CACHE_OPEN') then coalesce(call_id, -1) end, true) over past
      as changed_call,
    last_value(case when op in ('FLUSH', 'FAILED') then call_id end, true) over past as handed_call,
    last_value(case when op = 'FAILED' then call_id end, true) over upto as failed_call,
    last_value(case when op = 'METRICS' and cache is null then counter(value, 'puts') end, true) over past as puts_before,
    last_value(case when op = 'METRICS' and cache is null then counter(value, 'gets') end, true) over past as gets_before,
    last_value(case when op = 'METRICS' and cache is null then counter(value, 'evicts') end, true) over past
      as evicts_before,
    last_value(case when op = 'METRICS' and cache is null then counter(value, 'flushes') end, true) over past
      as flushes_before
  from since
  window
    line as (partition by broker order by seq),
    past as (partition by broker order by seq rows between unbounded preceding and 1 preceding),
    upto as (partition by broker order by seq rows between unbounded preceding and current row)
),
opened as (
  select
    *,
    seq_after = seq + 1 and call_after <> call_id as ends_call,
    case
      when op not in ('HIT', 'MISS', 'CACHE_OPEN') and coalesce(changed_call <> call_id, true) then
        case when op = 'PUT' then 1 when op = 'CONFIG' and limit_now < limit_before then 2 else 0 end
    end as opens_as
  from lined
),
called as (
  select
    *,
    last_value(case when opens_as is not null then call_id end, true) over upto as opened_call,
    last_value(opens_as, true) over upto as opened_as,
    last_value(case when opens_as = 1 then cache end, true) over upto as put_cache
  from opened
  window upto as (partition by broker order by seq rows between unbounded preceding and current row)
)
select
  *,
  opened_as = 1 and opened_call = call_id as in_put,
  opened_as = 2 and opened_call = call_id as in_shrink,
  last_value(case when cache = put_cache and opened_call = call_id then live_in_cache end, true)
    over (partition by broker order by seq rows between unbounded preceding and current row) as put_live,
  sum(case when op = 'EVICT' and opened_as = 1 and opened_call = call_id and coalesce(handed_call <> call_id, true) then 1 else 0 end)
    over (partition by broker order by seq rows between unbounded preceding and current row) as n_sure_evicts
from called
