-- R-EXPIRE-1: a time pass touches only entries whose stamp is strictly below its cutoff, which stays the same.

-- checked
op = 'PASS_END' and cause = 'TIME'

-- needs
bound of PASS_BEGIN TIME
stamp_ns of EVICT TIME
pass_id of EVICT TIME

-- window
with kinds as (
  select
    broker, seq, life, op, cause, stamp_ns, pass_id,
    coalesce(
      max(case when op = 'PASS_BEGIN' then cause end) over (partition by broker, pass_id),
      max(case when op = 'PASS_END' then cause end) over (partition by broker, pass_id)
    ) as pass_kind,
    max(case when op <> 'REQUEUE' then cause end) over (partition by broker, pass_id) as row_kind,
    coalesce(
      bound, max(case when op in ('PASS_BEGIN', 'PASS_END') then bound end) over (partition by broker, pass_id)
    ) as cutoff,
    bound, max(case when op = 'PASS_BEGIN' then bound end) over (partition by broker, pass_id) as begun_at
  from events
  where pass_id is not null and op in ('PASS_BEGIN', 'PASS_END', 'EVICT', 'TOMBSTONE', 'REQUEUE')
)
select
  broker, seq, life,
  case when bound <> begun_at then concat('cutoff ', cast(begun_at as string)) else concat('stamp below ', cast(cutoff as string)) end
    as expected,
  case when bound <> begun_at then concat('cutoff ', cast(bound as string)) else concat('stamp ', cast(stamp_ns as string)) end
    as observed,
  array(pass_id, seq) as seqs,
  true as sure
from kinds
where coalesce(pass_kind, row_kind) = 'TIME'
  and ((op in ('EVICT', 'REQUEUE') and stamp_ns >= cutoff) or (bound <> begun_at and coalesce(cause <> 'SIZE', true)))
