-- Each added entry, and each that was not wanted, with the members of its cache and the start of its grace period.
-- `cache_asks`: the trace shows that this cache asks whether to cache added entries. `is_managed`: its
-- cursors read it.
with own as (
  select
    e.*, b.fresh and not b.gapped as known,
    lag(op) over (partition by e.broker, call_id order by seq) as op_before,
    lag(op) over (partition by e.broker, cache, case when op in ('CURSOR_ADD', 'CURSOR_REMOVE') then cursor end,
      op in ('CURSOR_ADD', 'CURSOR_REMOVE') order by seq) as turn_before,
    min(case when op = 'CACHE_OPEN' then seq end) over (partition by e.broker, cache) as opened_seq
  from events e join brokers b on e.broker = b.broker
  where op in ('CURSOR_ADD', 'CURSOR_REMOVE', 'CACHE_OPEN', 'INSERT', 'SKIP', 'MISS', 'READ_BEGIN')
),
turns as (
  select
    *,
    op = 'SKIP' and cause = 'NOT_WANTED' and (seq = call_id or (seq = call_id + 1 and op_before = 'CACHE_OPEN'))
      as is_skip,
    op = 'INSERT' and cause = 'ADD' as is_add,
    case
      when op = 'CURSOR_ADD' and coalesce(turn_before <> 'CURSOR_ADD', true) then 1
      when op = 'CURSOR_REMOVE' and turn_before = 'CURSOR_ADD' then -1
      else 0
    end as turn
  from own
),
counted as (
  select
    *,
    sum(turn) over (partition by broker, cache order by seq rows between unbounded preceding and current row) as members,
    max(case when seq = opened_seq or turn = -1 then ts_ns end)
      over (partition by broker, cache order by seq rows between unbounded preceding and current row) as grace_ns,
    max(case when seq = opened_seq or turn = -1 then seq end)
      over (partition by broker, cache order by seq rows between unbounded preceding and current row) as grace_seq,
    max(case when seq = opened_seq then ts_ns end)
      over (partition by broker, cache order by seq rows between unbounded preceding and current row) as opened_ns,
    max(case when op = 'CACHE_OPEN' or op = 'CURSOR_ADD' or turn = -1 then ts_ns end)
      over (partition by broker, cache order by seq rows between unbounded preceding and current row) as restart_ns,
    max(case when is_skip then 1 else 0 end) over (partition by broker, cache) = 1 or not virtual as cache_asks,
    max(case when op = 'READ_BEGIN' then 1 else 0 end) over (partition by broker, cache)
      + max(case when op = 'CURSOR_ADD' then 1 else 0 end) over (partition by broker, cache) = 2 as is_managed
  from turns
)
select
  *,
  ts_ns div 1000000 - grace_ns div 1000000 as passed_millis,
  ts_ns div 1000000 - restart_ns div 1000000 as since_restart,
  ts_ns div 1000000 - opened_ns div 1000000 as since_opened
from counted
where is_add or is_skip
