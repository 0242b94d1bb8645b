-- Each event of a stream thread's cache with the state before it: of its key, namespace, broker and call. A key's state
-- is computed from writes and removals alone (`by_writes`), and taken from the key's last event (`shown`). The values
-- of one event are kept in a struct, so that few windows are needed.
with kept as (
  select
    e.broker, e.seq, ts_ns, case when op = 'FLUSH' and cause = 'FAILED' then 'FAILED' else op end as op, cause, cache,
    key_hash, e.life, size_bytes, coalesce(dirty, false) as dirty, call_id, bytes_after, manager_bytes, value, many,
    limit_now, limit_before, b.gapped, b.fresh and e.island = b.first_island as whole,
    op in ('STORE_OPEN', 'STORE_CLOSE', 'BELOW', 'FORWARD', 'VIEW', 'VIEW_ENTRY') as is_of_store
  from events e join brokers b on e.broker = b.broker
),
remembered as (
  select
    *,
    last_value(case when op = 'PUT' then struct(seq as at, coalesce(size_bytes, 0) as size_bytes, dirty as dirty) end, true)
      over past as put,
    last_value(case when op in ('PUT', 'HIT') then struct(seq as at, life as life, size_bytes as size_bytes, dirty as dirty) end, true)
      over past as used,
    max(case when op in ('EVICT', 'DELETE', 'REMOVE') then seq end) over past as ended_seq,
    max(case when op in ('EVICT', 'DELETE', 'REMOVE', 'MISS') then seq end) over past as gone_seq,
    last_value(case when op = 'FLUSH' then struct(seq as at, life as life, call_id as call_id, cause as cause) end, true) over past as flushed,
    last_value(case when op = 'EVICT' then struct(life as life, call_id as call_id, dirty as dirty) end, true) over past as left_by,
    max(case when op = 'FAILED' then seq end) over past as failed_seq,
    lead(struct(op as op, life as life, call_id as call_id, dirty as dirty))
      over (partition by broker, cache, key_hash, is_of_store order by seq) as leaves_by
  from kept
  window past as (partition by broker, cache, key_hash, is_of_store order by seq rows between unbounded preceding and 1 preceding)
),
keyed as (
  select
    *,
    put.at as put_seq, put.size_bytes as put_size, put.dirty as put_dirty,
    used.size_bytes as size_shown,
    case when coalesce(used.at < gone_seq, used.at is null) then -9223372036854775807 else coalesce(used.life, -9223372036854775807) end as life_shown,
    case
      when failed_seq > flushed.at and coalesce(used.at < failed_seq, true) then true
      when flushed.at is not null and coalesce(used.at < flushed.at, true) then false
      else used.dirty
    end as dirty_shown,
    coalesce(put.at > ended_seq, put.at is not null) as live,
    flushed.at as flushed_seq, flushed.life as flushed_life, flushed.call_id as flushed_call,
    flushed.at is null or flushed.cause is not null as is_sure_flush,
    greatest(used.at, gone_seq, flushed.at) as seen_seq,
    op = 'FLUSH' and coalesce(
      (left_by.life = life and left_by.call_id = call_id and left_by.dirty)
      or (leaves_by.op = 'EVICT' and leaves_by.life = life and leaves_by.call_id = call_id and leaves_by.dirty),
      false
    ) as is_evicted,
    op = 'FLUSH' and coalesce(
      (left_by.life = life and left_by.call_id = call_id)
      or (leaves_by.op = 'EVICT' and leaves_by.life = life and leaves_by.call_id = call_id),
      false
    ) as leaves_here
  from remembered
),
judged as (
  select
    *,
    case when live then put_seq else -9223372036854775807 end as life_by_writes,
    live and put_dirty
      and coalesce(flushed_life <> put_seq or flushed_seq < put_seq, flushed_seq is null or flushed_life is null) as dirty_by_writes
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
      when op = 'PUT' then case when dirty then 1 else 0 end - case when dirty_by_writes then 1 else 0 end
      when op in ('EVICT', 'DELETE', 'REMOVE') and dirty_by_writes then -1
      when op = 'FLUSH' then
        case when live and put_dirty and coalesce(life <> put_seq, true) then 1 else 0 end
        - case when dirty_by_writes then 1 else 0 end
      else 0
    end as dirtied,
    case
      when op = 'PUT' then coalesce(size_bytes, 0) - case when live then put_size else 0 end
      when op in ('EVICT', 'DELETE', 'REMOVE') and live then - put_size
      else 0
    end as grown,
    max(case when op in ('PUT', 'CACHE_CLOSE') then seq * 2 + case when op = 'PUT' then 1 else 0 end end)
      over (partition by broker, cache order by seq rows between unbounded preceding and current row) % 2 = 1 as written
  from judged
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
    sum(case when op = 'FLUSH' and cause is null then 1 else 0 end) over upto as n_unnamed,
    sum(case when op = 'FAILED' or (op = 'FLUSH' and cause is null) then 1 else 0 end) over upto as n_vague
  from changed
  window upto as (partition by broker, cache order by seq rows between unbounded preceding and current row)
),
since as (
  select
    *,
    last_value(
      case
        when op = 'CACHE_CLOSE' then struct(
          seq as at, n_overwrites as overwrites, n_misses as misses, n_sure_misses as sure_misses, n_hits as hits
        )
      end, true
    ) over (partition by broker, cache order by seq rows between unbounded preceding and current row) as closed
  from spaced
),
lined as (
  select
    *,
    lag(struct(
      seq as at, ts_ns as ts_ns, op as op, cache as cache, life as life, call_id as call_id, leaves_here as leaves_here,
      bytes_after as bytes_after
    )) over line as before,
    lead(struct(seq as at, op as op, cause as cause, cache as cache, call_id as call_id, life as life)) over line as next_one,
    sum(grown) over upto as by_sum,
    sum(entered) over upto as live_in_all,
    sum(case when op = 'PUT' then 1 else 0 end) over upto as n_puts,
    sum(case when op = 'EVICT' then 1 else 0 end) over upto as n_evicts,
    sum(case when op in ('HIT', 'MISS') then 1 else 0 end) over upto as n_lookups,
    sum(case when op = 'FAILED' then 1 else 0 end) over upto as n_failed,
    max(case when op = 'CONFIG' and limit_now < limit_before then seq end) over upto as shrunk_seq,
    max(case when op not in ('HIT', 'MISS', 'CACHE_OPEN', 'STORE_OPEN', 'VIEW', 'VIEW_ENTRY') then call_id end) over past as changed_call,
    max(case when op = 'FAILED' then call_id end) over upto as failed_call,
    max(case when op = 'FLUSH' and cause is null then call_id end) over upto as unnamed_call,
    max(case when op in ('FLUSH', 'FAILED') then seq end) over past as handed_seq,
    max(case when op not in ('FLUSH', 'FAILED') then seq end) over past as other_seq,
    last_value(case when op = 'METRICS' and cache is null then value end, true) over past as metrics_before
  from since
  window
    line as (partition by broker order by seq),
    past as (partition by broker order by seq rows between unbounded preceding and 1 preceding),
    upto as (partition by broker order by seq rows between unbounded preceding and current row)
),
opened as (
  select
    *,
    before.at as seq_before, before.ts_ns as ts_before, before.op as op_before, before.cache as cache_before,
    before.life as life_before, before.call_id as call_before, before.leaves_here as leaves_before,
    before.bytes_after + grown as by_row,
    next_one.at as seq_after, next_one.op as op_after, next_one.cause as cause_after, next_one.cache as cache_after,
    next_one.call_id as call_after,
    next_one.at = seq + 1 and next_one.call_id <> call_id as ends_call,
    min(case when op = 'PUT' and next_one.op = 'FAILED' and next_one.life = life then seq end)
      over (partition by broker) as put_back_seq,
    case
      when op not in ('HIT', 'MISS', 'CACHE_OPEN', 'STORE_OPEN', 'VIEW', 'VIEW_ENTRY') and coalesce(changed_call <> call_id, true) then
        case
          when op = 'PUT' then 1
          when op = 'CONFIG' and limit_now < limit_before then 2
          when op = 'FLUSH' and not leaves_here then 3
          else 0
        end
    end as opens_as
  from lined
),
called as (
  select
    *,
    last_value(
      case when opens_as is not null then struct(seq as at, call_id as call_id, opens_as as kind, cache as cache) end, true
    ) over upto as opener,
    sum(case when opens_as = 3 then 1 else 0 end) over upto as n_flushes
  from opened
  window upto as (partition by broker order by seq rows between unbounded preceding and current row)
),
entitled as (
  select
    *,
    opener.call_id = call_id and opener.kind = 1 as in_put,
    opener.call_id = call_id and opener.kind = 2 as in_shrink,
    opener.cache as put_cache,
    coalesce(
      op = 'EVICT' and opener.call_id = call_id and opener.kind = 1 and (
        coalesce(handed_seq < call_id, true)
        or (op_before = 'FLUSH' and other_seq = opener.at and flushed_seq = opener.at + 1 and flushed_life = life)
      ),
      false
    ) as overflows
  from called
)
select
  *,
  closed.at as closed_seq,
  n_overwrites - coalesce(closed.overwrites, 0) as own_overwrites,
  n_misses - coalesce(closed.misses, 0) as own_misses,
  n_sure_misses - coalesce(closed.sure_misses, 0) as own_sure_misses,
  n_hits - coalesce(closed.hits, 0) as own_hits,
  last_value(case when cache = put_cache and in_put then live_in_cache end, true) over upto as put_live,
  sum(case when overflows then 1 else 0 end) over upto as n_sure_evicts
from entitled
window upto as (partition by broker order by seq rows between unbounded preceding and current row)
