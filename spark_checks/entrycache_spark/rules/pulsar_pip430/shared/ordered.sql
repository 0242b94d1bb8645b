-- Each event with its neighbours in the order of the broker, within an island (events without a gap between).
with summed as (
  select
    e.*, b.starts, b.gapped, b.fresh, b.first_seq, e.island = b.first_island and b.starts as whole,
    coalesce(manager_bytes, bytes_after) as held,
    lag(seq) over (partition by e.broker, island order by seq) as seq_before,
    lag(op) over (partition by e.broker, island order by seq) as op_before,
    lag(manager_bytes) over (partition by e.broker, island order by seq) as manager_before,
    lag(manager_bytes, 2) over (partition by e.broker, island order by seq) as manager_then,
    lag(bytes_after) over (partition by e.broker, island order by seq) as bytes_before,
    lead(seq) over (partition by e.broker, island order by seq) as seq_after,
    lead(op) over (partition by e.broker, island order by seq) as op_after,
    lead(cause) over (partition by e.broker, island order by seq) as cause_after,
    lead(origin) over (partition by e.broker, island order by seq) as origin_after,
    lead(call_id) over (partition by e.broker, island order by seq) as call_after,
    lag(ts_ns) over (partition by e.broker order by seq) as ts_before,
    lag(seq) over (partition by e.broker order by seq) as seen_before,
    max(case when op in ('PASS_BEGIN', 'PASS_END') then seq * 2 + case when op = 'PASS_BEGIN' then 1 else 0 end end)
      over (partition by e.broker, island order by seq rows between unbounded preceding and 1 preceding) as pass_before,
    last_value(case when op = 'PASS_BEGIN' then struct(cause as kind, origin as origin) end, true)
      over (partition by e.broker, island order by seq rows between unbounded preceding and 1 preceding) as begun,
    last_value(case when op in ('PASS_BEGIN', 'EVICT', 'TOMBSTONE') then cause end, true)
      over (partition by e.broker, island order by seq rows between unbounded preceding and 1 preceding) as kind_before,
    sum(case when op = 'INSERT' then size_bytes else 0 end)
      over (partition by e.broker, island order by seq rows between unbounded preceding and current row) as came_in,
    max(case when op = 'INSERT' and coalesce(manager_bytes, bytes_after) > trigger_now then seq end)
      over (partition by e.broker, island order by seq rows between unbounded preceding and 1 preceding) as request_seq,
    max(case when op = 'PASS_BEGIN' and cause = 'SIZE' and origin = 'TRIGGER' then seq end)
      over (partition by e.broker, island order by seq rows between unbounded preceding and 1 preceding) as relieved_seq,
    max(case when op = 'PASS_END' and cause = 'SIZE' and origin in ('TRIGGER', 'CYCLE') then seq end)
      over (partition by e.broker) as last_relief_seq
  from events e join brokers b on e.broker = b.broker
)
select
  *,
  case when pass_before % 2 = 1 then cast((pass_before - 1) div 2 as bigint) end as open_pass,
  begun.kind as pass_kind, begun.origin as pass_origin,
  coalesce(
    max(case when op = 'PASS_END' then came_in end)
      over (partition by broker, island order by seq rows between unbounded preceding and 1 preceding),
    case when whole then 0 end
  ) as came_before,
  last_value(case when op = 'END' or (call_after <> call_id and not many) then manager_bytes - bytes_after end, true)
    over (partition by broker, island order by seq rows between unbounded preceding and 1 preceding) as off_before,
  last_value(case when op = 'PASS_BEGIN' then greatest(bytes_after - held, 0) end, true)
    over (partition by broker, island order by seq rows between unbounded preceding and current row) as lag_at_begin
from summed
