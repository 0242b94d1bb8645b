-- R-EVICT-5: a size pass removes nothing more once it has freed what it needs; so what it frees beyond that is
-- less than its last entry.

-- checked
op = 'PASS_END' and cause = 'SIZE'

-- needs
bound of PASS_BEGIN SIZE
size_bytes of EVICT SIZE
pass_id of EVICT SIZE

-- witness: no removal with nothing left to free, and what is left to free shrinks by what was removed
case
  when op = 'PASS_BEGIN' and cause = 'SIZE' then token(pass_id, greatest(bound, 0))
  when op = 'EVICT' and cause = 'SIZE' and not coalesce(bound > 0, false) then 4294967311
  when op = 'EVICT' and cause = 'SIZE'
    then token(pass_id, greatest(bound - size_bytes, 0)) - token(pass_id, bound)
  when op = 'PASS_END' and cause = 'SIZE' then - token(pass_id, greatest(bound, 0))
  else 0
end

-- window
with freed as (
  select
    broker, seq, life, op, bound, pass_id,
    sum(case when op = 'EVICT' then size_bytes else 0 end)
      over (partition by broker, pass_id order by seq rows between unbounded preceding and current row)
      - case when op = 'EVICT' then size_bytes else 0 end as freed_before,
    max(case when op = 'PASS_BEGIN' then bound end) over (partition by broker, pass_id) as need
  from events
  where pass_id is not null and cause = 'SIZE' and op in ('PASS_BEGIN', 'EVICT')
)
select
  broker, seq, life,
  concat('no removal after ', coalesce(cast(need as string), 'enough'), ' bytes') as expected,
  concat('removal after ', cast(freed_before as string), ' bytes') as observed,
  array(pass_id, seq) as seqs,
  true as sure
from freed
where op = 'EVICT' and (freed_before >= need or bound <= 0)
