-- R-EVICT-4: a size pass frees at least the excess at its begin, or ends with no slot left.

-- checked
op = 'PASS_END' and cause = 'SIZE'

-- needs
bound of PASS_BEGIN SIZE
size_bytes of EVICT SIZE
pass_id of EVICT SIZE

-- window: slots are left if an entry was cached before the last row of the pass and still is
with counted as (
  select
    e.broker, seq, op, cause, pass_id, bound, tail_no, head_no, stamp_ns, size_bytes, island,
    e.island = b.first_island and b.starts as whole,
    sum(
      case
        when op = 'INSERT' or (op = 'SNAPSHOT' and cause = 'OPEN' and life is not null) then 1
        when op in ('EVICT', 'REMOVE') then -1
        else 0
      end
    ) over (partition by e.broker order by seq rows between unbounded preceding and current row) as live
  from events e join brokers b on e.broker = b.broker
  where op in ('INSERT', 'EVICT', 'REMOVE', 'REQUEUE', 'TOMBSTONE', 'PASS_BEGIN', 'PASS_END')
    or (op = 'SNAPSHOT' and cause = 'OPEN')
),
passes as (
  select
    broker, pass_id,
    coalesce(max(case when op = 'PASS_BEGIN' then cause end), max(case when op = 'PASS_END' then cause end)) as kind,
    max(case when op = 'PASS_BEGIN' then bound end) as need,
    max(case when op = 'PASS_END' then seq end) as end_seq,
    sum(case when op = 'EVICT' then size_bytes else 0 end) as freed,
    max(case when op = 'PASS_END' then live end) as live_at_end,
    max_by(live, case when op = 'PASS_END' then -1 else seq end) as live_at_last,
    max(case when op = 'PASS_END' then tail_no - head_no end) as slots_left,
    max(case when op = 'PASS_END' then stamp_ns end) as head_stamp_ns,
    min(case when whole then 1 else 0 end) as whole,
    min(island) as begin_island,
    max(island) as end_island
  from counted
  where pass_id is not null
  group by broker, pass_id
),
short as (
  select
    *,
    case
      when whole = 1 then live_at_end > 0 and live_at_last > 0
      when slots_left is not null then slots_left > 0
      else head_stamp_ns is not null
    end as slot_left
  from passes
  where kind = 'SIZE' and begin_island = end_island and (end_seq is null or need is null or freed < need)
)
select
  broker, coalesce(end_seq, pass_id) as seq, cast(null as bigint) as life,
  concat('at least ', coalesce(cast(need as string), 'an unknown number of'), ' bytes freed, or no slot left') as expected,
  concat(cast(freed as string), ' bytes freed, slots left') as observed,
  array(pass_id, coalesce(end_seq, pass_id)) as seqs,
  end_seq is not null and need is not null as sure
from short
where end_seq is null or need is null or slot_left
