-- R-EVICT-5: a size pass removes nothing more once it has freed what it needs, so its surplus is less than its last
-- entry. Each of its rows says how much is left to free before it.

-- checked
op = 'PASS_END' and cause = 'SIZE'

-- needs
bound of PASS_BEGIN SIZE
size_bytes of EVICT SIZE
pass_id of EVICT SIZE

-- window
with freed as (
  select
    broker, seq, life, op, bound, pass_id, island,
    sum(case when op = 'EVICT' then size_bytes else 0 end)
      over (partition by broker, pass_id order by seq rows between unbounded preceding and current row)
      - case when op = 'EVICT' then coalesce(size_bytes, 0) else 0 end as freed_before,
    max(case when op = 'EVICT' and size_bytes is null then 1 else 0 end)
      over (partition by broker, pass_id order by seq rows between unbounded preceding and current row) as unsized,
    max(case when op = 'PASS_BEGIN' then bound end) over (partition by broker, pass_id) as need,
    max(case when op = 'PASS_BEGIN' then island end) over (partition by broker, pass_id) as begin_island,
    coalesce(
      max(case when op = 'PASS_BEGIN' then cause end) over (partition by broker, pass_id),
      max(case when op = 'PASS_END' then cause end) over (partition by broker, pass_id)
    ) as kind
  from events
  where pass_id is not null and op in ('PASS_BEGIN', 'PASS_END', 'EVICT', 'REQUEUE', 'TOMBSTONE')
)
select
  broker, seq, life,
  case
    when op = 'EVICT' and (freed_before >= need or bound <= 0)
      then concat('no removal after ', coalesce(cast(need as string), 'enough'), ' bytes')
    else concat('bound ', cast(need - freed_before as string))
  end as expected,
  case
    when op = 'EVICT' and (freed_before >= need or bound <= 0) then concat('removal after ', cast(freed_before as string), ' bytes')
    else concat('bound ', cast(bound as string))
  end as observed,
  array(pass_id, seq) as seqs,
  true as sure
from freed
where kind = 'SIZE' and unsized = 0
  and ((op = 'EVICT' and (freed_before >= need or bound <= 0)) or (island = begin_island and bound <> need - freed_before))
