-- R-STATE-1: `bytes_after` is the running sum of the accounted bytes of all caches. An entry leaves with the size of
-- its INSERT. END shows the sum. The manager's own bytes equal it when the cache is quiescent: at END, and with one
-- thread also when a call has ended.

-- checked
op in ('INSERT', 'EVICT', 'REMOVE')

-- needs
size_bytes of INSERT
size_bytes of EVICT, REMOVE
clean value.bytes of END

-- window: a row is wrong if its bytes neither follow from the row before it nor equal the sum since the start. A row
-- without a size is not compared
with changes as (
  select
    e.broker, e.seq, e.life, e.op, e.cause, e.island, e.bytes_after, b.open_bytes,
    b.starts and e.island = b.first_island as whole,
    case
      when e.op = 'INSERT' then e.size_bytes
      when e.op in ('EVICT', 'REMOVE') then - e.size_bytes
      else 0
    end as delta,
    case when e.op = 'SNAPSHOT' and e.cause = 'OPEN' then coalesce(e.size_bytes, 0) else 0 end as opened
  from events e join brokers b on e.broker = b.broker
),
sums as (
  select
    *,
    lag(bytes_after) over (partition by broker, island order by seq) + delta as by_row,
    lag(seq) over (partition by broker, island order by seq) as seq_before,
    sum(delta) over (partition by broker, island order by seq rows between unbounded preceding and current row)
      + case
          when whole then open_bytes
          else first_value(bytes_after - delta) over (
            partition by broker, island order by seq rows between unbounded preceding and current row
          )
        end as by_sum,
    sum(opened) over (partition by broker, island order by seq rows between unbounded preceding and current row)
      as open_so_far
  from changes
),
sizes as (
  select
    broker, seq, life, op, size_bytes,
    max(case when op in ('INSERT', 'SNAPSHOT') then size_bytes end) over (partition by broker, life) as came_with,
    max(case when op in ('INSERT', 'SNAPSHOT') then seq end) over (partition by broker, life) as begin_seq
  from events
  where life is not null and (op in ('INSERT', 'EVICT', 'REMOVE') or (op = 'SNAPSHOT' and cause = 'OPEN'))
)
select
  broker, seq, life,
  concat('bytes_after ', cast(by_sum as string)) as expected,
  concat('bytes_after ', cast(bytes_after as string)) as observed,
  array(coalesce(seq_before, seq), seq) as seqs,
  true as sure
from sums
where delta is not null and coalesce(bytes_after <> by_row, true) and bytes_after <> by_sum
  and not (whole and (op = 'CONFIG' or op = 'SNAPSHOT') and bytes_after = open_so_far and delta = 0
    and (seq_before is null or (op = 'SNAPSHOT' and cause = 'OPEN')))
union all
select
  broker, seq, life,
  concat('size_bytes ', cast(came_with as string)) as expected,
  concat('size_bytes ', cast(size_bytes as string)) as observed,
  array(begin_seq, seq) as seqs,
  true as sure
from sizes
where op in ('EVICT', 'REMOVE') and size_bytes <> came_with

-- over ordered: the first row where the manager's own bytes differ: when quiescent; and with one thread at any row,
-- where they may lag, but are the sum now, the sum before, or unchanged
manager_bytes <> bytes_after and (
  (coalesce(manager_bytes - bytes_after <> off_before, true) and (op = 'END' or (not many and call_after <> call_id)))
  or (not many and manager_bytes not in (manager_before, bytes_before) and coalesce(manager_bytes <> manager_then, true)
    and manager_bytes - bytes_after <> manager_before - bytes_before)
)

-- expected
concat('manager_bytes ', cast(bytes_after as string))

-- observed
concat('manager_bytes ', cast(manager_bytes as string))

-- over rows: the sum that END shows
op = 'END' and counter(value, 'bytes') <> bytes_after

-- expected
concat('bytes ', cast(bytes_after as string))

-- observed
concat('bytes ', cast(counter(value, 'bytes') as string))
