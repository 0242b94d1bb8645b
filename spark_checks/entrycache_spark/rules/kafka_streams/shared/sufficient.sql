-- One row for each broker that begins empty and has no gap: the sufficient conditions that hold in all its rows. If they
-- hold, no condition over `streamed` can be fulfilled, so that view is not built. A condition may fail in an honest
-- trace; then it proves nothing.
-- Each row is compared with the last row of its key, then with its neighbours in a chunk of whole calls. Values that
-- continue from chunk to chunk are summed in parts: a part ends with a row where a running sum is compared (`is_mark`).
with kept as (
  select
    e.broker, seq, ts_ns, case when op = 'FLUSH' and cause = 'FAILED' then 'FAILED' else op end as op, cause, cache,
    key_hash, e.life, size_bytes, coalesce(dirty, false) as dirty, call_id, bytes_after, manager_bytes,
    case when op in ('METRICS', 'END') then value end as value, limit_now, limit_before,
    b.first_seq div 16384 as first_chunk
  from events e join brokers b on e.broker = b.broker
),
followed as (
  select
    *,
    lag(struct(seq as at, op as op, life as life, size_bytes as size_bytes, dirty as dirty, call_id as call_id)) over line as p,
    lead(struct(op as op, life as life, call_id as call_id, dirty as dirty)) over line as n,
    max(case when op not in ('FLUSH', 'FAILED') then seq * 2 + case when op in ('PUT', 'HIT') then 1 else 0 end end)
      over (partition by broker, cache, key_hash order by seq rows between unbounded preceding and 1 preceding) as used
  from kept
  window line as (partition by broker, cache, key_hash order by seq)
),
known as (
  select
    *,
    p.at as p_at, p.op as p_op, p.size_bytes as size_now,
    case when p.op = 'PUT' then p.at else p.life end as life_now,
    coalesce(p.dirty and p.op <> 'FLUSH', false) as dirty_now,
    used div 2 as used_seq,
    key_hash is not null and coalesce(used % 2 = 1, false) as live,
    coalesce(p.op = 'EVICT' and p.life = life and p.call_id = call_id, false) as has_left,
    coalesce(p.dirty, false) as p_dirty,
    coalesce(p.op = 'FLUSH' and p.life = life and p.call_id = call_id, false) as was_handed,
    coalesce(n.op = 'FLUSH' and n.life = life and n.call_id = call_id, false) as is_handed,
    coalesce(n.op = 'EVICT' and n.life = life and n.call_id = call_id, false) as leaves,
    coalesce(n.dirty, false) as n_dirty,
    n.op is null as is_last
  from followed
),
compared as (
  select
    *,
    coalesce(live and life = life_now and size_bytes = size_now, false) as same_entry,
    op = 'FLUSH' and (has_left or leaves) as leaves_here
  from known
),
judged as (
  select
    broker, seq, ts_ns, op, cause, cache, life, call_id, bytes_after, manager_bytes, value, limit_now, limit_before,
    first_chunk, leaves_here, dirty, size_bytes, live,
    call_id div 16384 as chunk,
    case
      when key_hash is null then op in ('CONFIG', 'CACHE_OPEN', 'CACHE_CLOSE', 'METRICS', 'END')
      when op = 'PUT' then coalesce(life = seq and size_bytes is not null, false) and (dirty or not (live and dirty_now))
      when op = 'MISS' then not live
      when op in ('HIT', 'REMOVE', 'FAILED') then same_entry and dirty = dirty_now
      when op = 'DELETE' and cause = 'FLUSH' then same_entry and dirty = dirty_now and was_handed
      when op = 'DELETE' then (same_entry and dirty = dirty_now) or (life is null and not live)
      when op = 'EVICT' then same_entry and (dirty = dirty_now or was_handed) and (not dirty or was_handed or is_handed)
      when op = 'FLUSH' then
        (has_left and not live and p_dirty and coalesce(size_bytes = size_now, false)) or (same_entry and dirty_now)
      else false
    end as honest,
    op = 'FLUSH' and ((has_left and p_dirty) or (leaves and n_dirty)) as is_evicted,
    case when was_handed then p_at end as handed_at,
    case when op = 'EVICT' then used_seq end as evicted_from,
    case when live and op not in ('FLUSH', 'FAILED') then used_seq end as used_from,
    case
      when not is_last or key_hash is null then null
      when op in ('PUT', 'HIT') then seq
      when op in ('FLUSH', 'FAILED') and live then used_seq
    end as unended_from,
    case
      when op = 'PUT' and not live then 1
      when op in ('EVICT', 'DELETE', 'REMOVE') and live then -1
      else 0
    end as entered,
    case
      when op = 'PUT' then case when dirty then 1 else 0 end - case when live and dirty_now then 1 else 0 end
      when op in ('EVICT', 'DELETE', 'REMOVE', 'FLUSH') and live and dirty_now then -1
      else 0
    end as dirtied,
    case
      when op = 'PUT' then size_bytes - case when live then size_now else 0 end
      when op in ('EVICT', 'DELETE', 'REMOVE') and live then - size_now
      else 0
    end as grown
  from compared
),
lined as (
  select
    *,
    lag(struct(
      seq as at, ts_ns as ts_ns, op as op, cache as cache, life as life, call_id as call_id, leaves_here as leaves_here,
      bytes_after as bytes_after
    )) over line as before,
    lead(struct(op as op, cause as cause, cache as cache, call_id as call_id)) over line as after,
    max(case when op not in ('HIT', 'MISS', 'CACHE_OPEN') then call_id end) over past as changed_call,
    max(case when op in ('FLUSH', 'FAILED') then seq end) over past as handed_seq
  from judged
  window
    line as (partition by broker, chunk order by seq),
    past as (partition by broker, chunk order by seq rows between unbounded preceding and 1 preceding)
),
placed as (
  select
    *,
    coalesce(after.call_id <> call_id, true) as ends,
    op = 'FLUSH' and coalesce(before.op = 'FLUSH' and before.cache = cache and before.call_id = call_id, false) as went_on,
    op = 'FLUSH' and not coalesce(after.op = 'FLUSH' and after.cache = cache and after.call_id = call_id, false) as is_handed_over,
    coalesce(
      op = 'REMOVE' and cause = 'CLEAR'
      and not coalesce(after.op = 'REMOVE' and after.cause = 'CLEAR' and after.cache = cache and after.call_id = call_id, false),
      false
    ) or coalesce(
      (op = 'CACHE_CLOSE' or (op = 'REMOVE' and cause = 'CLOSE'))
      and not coalesce(after.op in ('REMOVE', 'CACHE_CLOSE') and after.cache = cache and after.call_id = call_id, false),
      false
    ) as is_emptied,
    case
      when op not in ('HIT', 'MISS', 'CACHE_OPEN') and coalesce(changed_call <> call_id, true) then
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
    max(case when opens_as is not null then seq * 4 + opens_as end) over upto as opener,
    last_value(case when opens_as = 1 then cache end, true) over upto as put_cache,
    sum(case when op in ('METRICS', 'END', 'CACHE_CLOSE') or is_handed_over or is_emptied then 1 else 0 end) over (
      partition by broker, chunk order by seq rows between unbounded preceding and 1 preceding
    ) as n_marks
  from placed
  window upto as (partition by broker, chunk order by seq rows between unbounded preceding and current row)
),
spaced as (
  select
    *,
    coalesce(n_marks, 0) as part,
    coalesce(opener div 4 >= call_id and opener % 4 = 1, false) as in_put,
    coalesce(opener div 4 >= call_id and opener % 4 = 2, false) as in_shrink,
    coalesce(
      op = 'EVICT' and opener div 4 >= call_id and opener % 4 = 1
      and (coalesce(handed_seq < call_id, true) or (before.op = 'FLUSH' and handed_at = opener div 4 + 1)),
      false
    ) as overflows,
    coalesce(
      max(case when op in ('PUT', 'CACHE_CLOSE') then seq * 2 + case when op = 'PUT' then 1 else 0 end end) over past % 2 = 1,
      chunk > first_chunk
    ) as written,
    max(evicted_from) over past as evicted_before
  from called
  window past as (partition by broker, chunk, cache order by seq rows between unbounded preceding and 1 preceding)
),
parts as (
  select
    broker, chunk, part, cache,
    count(*) as n_rows, min(seq) as first_at, max(seq) as last_at, min(ts_ns) as first_ts, max(ts_ns) as last_ts,
    sum(case when not honest then 1 else 0 end) as strange,
    sum(case when not coalesce(
      (before.at is null and call_id = seq)
      or (before.at = seq - 1 and ts_ns >= before.ts_ns and (call_id = seq or call_id = before.call_id)), false
    )
      then 1 else 0 end) as unframed,
    sum(case when went_on and is_evicted then 1 else 0 end) as behind,
    sum(case when went_on and not leaves_here and not before.leaves_here and life < before.life then 1 else 0 end) as disordered,
    sum(case when overflows and bytes_after + size_bytes <= limit_now then 1 else 0 end) as needless,
    sum(case when overflows and coalesce(cache <> put_cache, true) then 1 else 0 end) as outside,
    sum(case when ends and in_put and bytes_after > limit_now then 1 else 0 end) as above,
    sum(case when ends and in_shrink and bytes_after > limit_now then 1 else 0 end) as left_above,
    sum(case when not coalesce(bytes_after - grown = before.bytes_after, before.at is null and grown is not null) then 1 else 0 end) as unsummed,
    max(case when before.at is null then bytes_after - grown end) as bytes_came,
    max(case when after.op is null then bytes_after end) as bytes_went,
    sum(case when (op = 'END' or ends) and manager_bytes <> bytes_after then 1 else 0 end) as astray,
    sum(case when used_from < evicted_before then 1 else 0 end) as not_eldest,
    min(used_from) as used_low, max(evicted_from) as evicted_high, min(unended_from) as unended_low,
    sum(case when is_handed_over then 1 else 0 end) as handed_over, sum(case when is_emptied then 1 else 0 end) as emptied, sum(case when op = 'CACHE_CLOSE' then 1 else 0 end) as closes,
    sum(entered) as entered, sum(dirtied) as dirtied,
    sum(case when op = 'PUT' then 1 else 0 end) as puts, sum(case when op = 'PUT' and live then 1 else 0 end) as overwrites,
    sum(case when op in ('HIT', 'MISS') then 1 else 0 end) as lookups, sum(case when op = 'MISS' then 1 else 0 end) as misses,
    sum(case when op = 'MISS' and written then 1 else 0 end) as sure_misses,
    sum(case when op in ('HIT', 'FLUSH') then 1 when op = 'EVICT' and dirty then -1 else 0 end) as hits,
    sum(case when op = 'EVICT' then 1 else 0 end) as evicts, sum(case when overflows then 1 else 0 end) as sure_evicts,
    sum(case when opens_as = 3 then 1 else 0 end) as flushes, sum(case when op = 'CONFIG' and limit_now < limit_before then 1 else 0 end) as shrinks,
    max(case when op = 'END' then counter(value, 'bytes') - bytes_after end) as end_off,
    max(case when op = 'END' then counter(value, 'entries') end) as end_entries,
    max(case when op = 'METRICS' and cache is null then counter(value, 'puts') end) as reported_puts,
    max(case when op = 'METRICS' and cache is null then counter(value, 'gets') end) as reported_gets,
    max(case when op = 'METRICS' and cache is null then counter(value, 'evicts') end) as reported_evicts,
    max(case when op = 'METRICS' and cache is null then counter(value, 'flushes') end) as reported_flushes,
    max(case when op = 'METRICS' and cache is not null then counter(value, 'overwrites') end) as reported_overwrites,
    max(case when op = 'METRICS' and cache is not null then counter(value, 'misses') end) as reported_misses,
    max(case when op = 'METRICS' and cache is not null then counter(value, 'hits') end) as reported_hits
  from spaced
  group by broker, chunk, part, cache
),
summed as (
  select
    *,
    sum(entered) over upto as live_now, sum(dirtied) over upto as dirty_now,
    sum(overwrites) over upto as overwrites_now, sum(misses) over upto as misses_now,
    sum(sure_misses) over upto as sure_misses_now, sum(hits) over upto as hits_now,
    max(evicted_high) over (
      partition by broker, cache order by chunk, part rows between unbounded preceding and 1 preceding
    ) as evicted_came,
    max(evicted_high) over (partition by broker, cache) as evicted_ever
  from parts
  window upto as (partition by broker, cache order by chunk, part rows between unbounded preceding and current row)
),
since as (
  select
    *,
    last_value(
      case
        when closes > 0 then struct(
          overwrites_now as overwrites, misses_now as misses, sure_misses_now as sure_misses, hits_now as hits
        )
      end, true
    ) over (partition by broker, cache order by chunk, part rows between unbounded preceding and 1 preceding) as closed
  from summed
),
by_part as (
  select
    broker, chunk, part,
    sum(n_rows) as n_rows, min(first_at) as first_at, max(last_at) as last_at, min(first_ts) as first_ts,
    max(last_ts) as last_ts, sum(strange) as strange, sum(unframed) as unframed, sum(behind) as behind,
    sum(disordered) as disordered, sum(needless) as needless, sum(outside) as outside, sum(above) as above,
    sum(left_above) as left_above, sum(unsummed) as unsummed, max(bytes_came) as bytes_came, max(bytes_went) as bytes_went,
    sum(astray) as astray,
    sum(not_eldest) + sum(case when used_low < evicted_came then 1 else 0 end) + sum(case when unended_low < evicted_ever then 1 else 0 end) as not_eldest,
    sum(case when handed_over > 0 and dirty_now <> 0 then 1 else 0 end) as unclean, sum(case when emptied > 0 and live_now <> 0 then 1 else 0 end) as unempty,
    sum(entered) as entered, sum(puts) as puts, sum(lookups) as lookups, sum(evicts) as evicts,
    sum(sure_evicts) as sure_evicts, sum(flushes) as flushes, sum(shrinks) as shrinks,
    max(end_off) as end_off, max(end_entries) as end_entries, max(reported_puts) as reported_puts, max(reported_gets) as reported_gets,
    max(reported_evicts) as reported_evicts, max(reported_flushes) as reported_flushes,
    sum(case when reported_overwrites <> overwrites_now - coalesce(closed.overwrites, 0) or reported_hits <> hits_now - coalesce(closed.hits, 0)
      or reported_misses > misses_now - coalesce(closed.misses, 0)
      or reported_misses < sure_misses_now - coalesce(closed.sure_misses, 0)
      then 1 else 0 end) as miscounted
  from since
  group by broker, chunk, part
),
chained as (
  select
    *,
    lag(last_at) over line as at_before, lag(last_ts) over line as ts_before, lag(bytes_went) over line as bytes_before,
    sum(entered) over upto as live_now, sum(puts) over upto as puts_now, sum(lookups) over upto as lookups_now,
    sum(evicts) over upto as evicts_now, sum(sure_evicts) over upto as sure_now, sum(flushes) over upto as flushes_now,
    sum(shrinks) over upto as shrinks_now,
    max(reported_puts) over past as puts_before, max(reported_gets) over past as gets_before,
    max(reported_evicts) over past as evicts_before, max(reported_flushes) over past as flushes_before
  from by_part
  window
    line as (partition by broker order by chunk, part),
    past as (partition by broker order by chunk, part rows between unbounded preceding and 1 preceding),
    upto as (partition by broker order by chunk, part rows between unbounded preceding and current row)
)
select
  broker,
  sum(strange) = 0 as keys_hold,
  sum(case when chunk is null or unframed > 0 or last_at - first_at + 1 <> n_rows or first_at <> at_before + 1 or first_ts < ts_before
      then 1 else 0 end) = 0 as calls_hold,
  sum(behind) = 0 as evicted_first, sum(disordered) = 0 as order_holds, sum(unclean) = 0 as handed_all,
  sum(unempty) = 0 as left_empty, sum(not_eldest) = 0 as eldest_first,
  sum(needless) = 0 as none_needless, sum(outside) = 0 as none_outside, sum(above) = 0 as none_above,
  sum(left_above) = 0 as none_left_above,
  sum(unsummed) + sum(case when bytes_came <> coalesce(bytes_before, 0) or end_off <> 0 or end_entries <> live_now
      then 1 else 0 end) = 0 as sums_hold,
  sum(astray) = 0 as totals_hold,
  sum(case when reported_puts < puts_before or reported_gets < gets_before or reported_evicts < evicts_before or reported_flushes < flushes_before
    or reported_puts <> puts_now or reported_gets > lookups_now
    or reported_evicts < sure_now or (shrinks_now = 0 and reported_evicts > evicts_now) or reported_flushes < flushes_now
      then 1 else 0 end) = 0 as counts_hold,
  sum(miscounted) = 0 as own_counts_hold
from chained
group by broker
