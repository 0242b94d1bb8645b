-- R-EXPIRE-1: a time pass touches only entries whose stamp is strictly below its cutoff.

-- checked
op = 'PASS_END' and cause = 'TIME'

-- needs
bound of PASS_BEGIN TIME
stamp_ns of EVICT TIME
pass_id of EVICT TIME

-- witness: no young EVICT; and the rows of all time passes are counted for by their evictions, dead slots and
-- requeues of expired entries alone (a REQUEUE does not say in which kind of pass it stands)
case
  when op = 'PASS_END' and cause = 'TIME' then (seq - pass_id - 1) * token(pass_id, 1)
  when op = 'EVICT' and cause = 'TIME' and not coalesce(stamp_ns < bound, false) then 4294967311
  when op in ('EVICT', 'TOMBSTONE') and cause = 'TIME' then - token(pass_id, 1)
  when op = 'REQUEUE' and stamp_ns < bound then - token(pass_id, 1)
  else 0
end

-- window
with kinds as (
  select
    broker, seq, life, op, stamp_ns, pass_id,
    max(case when op in ('PASS_BEGIN', 'PASS_END') then cause end) over (partition by broker, pass_id) as pass_kind,
    max(case when op <> 'REQUEUE' then cause end) over (partition by broker, pass_id) as row_kind,
    coalesce(
      bound, max(case when op in ('PASS_BEGIN', 'PASS_END') then bound end) over (partition by broker, pass_id)
    ) as cutoff
  from events
  where pass_id is not null and op in ('PASS_BEGIN', 'PASS_END', 'EVICT', 'TOMBSTONE', 'REQUEUE')
)
select
  broker, seq, life,
  concat('stamp below ', cast(cutoff as string)) as expected,
  concat('stamp ', cast(stamp_ns as string)) as observed,
  array(pass_id, seq) as seqs,
  true as sure
from kinds
where op in ('EVICT', 'REQUEUE') and coalesce(pass_kind, row_kind) = 'TIME' and stamp_ns >= cutoff
