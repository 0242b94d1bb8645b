-- R-EXPIRE-2: a time pass leaves no expired entry at the head.

-- checked
op = 'PASS_END' and cause = 'TIME'

-- needs
bound of PASS_END TIME

-- window: a null stamp says that no live entry is left; if bytes are left, it says nothing
select
  broker, seq, life,
  concat('head stamp at or above ', cast(bound as string)) as expected,
  concat('head stamp ', coalesce(cast(stamp_ns as string), 'unknown')) as observed,
  array(pass_id, seq) as seqs,
  coalesce(stamp_ns < bound, false) as sure
from events
where op = 'PASS_END' and cause = 'TIME' and coalesce(stamp_ns < bound, bound is not null and bytes_after > 0)
