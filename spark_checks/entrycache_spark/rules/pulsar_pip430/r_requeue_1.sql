-- R-REQUEUE-1: a requeue for access needs an accessed entry and the setting that extends its stay.

-- checked
op = 'REQUEUE' and cause = 'ACCESSED'

-- needs
accessed of REQUEUE ACCESSED
extend_accessed of REQUEUE ACCESSED

-- window
select
  broker, seq, life,
  'accessed and extend_accessed' as expected,
  concat('accessed ', cast(accessed as string), ', extend_accessed ', cast(extend_accessed as string)) as observed,
  array(pass_id, seq) as seqs,
  true as sure
from events
where op = 'REQUEUE' and cause = 'ACCESSED' and not (accessed and extend_accessed)
