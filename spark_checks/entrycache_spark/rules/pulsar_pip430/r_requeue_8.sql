-- R-REQUEUE-8: a requeue for expected reads needs a count of at least 1, and access comes first as the cause.

-- checked
op = 'REQUEUE' and cause = 'EXPECTED_READS'

-- needs
ever expected_reads of REQUEUE EXPECTED_READS

-- window
select
  broker, seq, life,
  case when coalesce(expected_reads, 0) < 1 then 'expected_reads >= 1' else 'cause ACCESSED' end as expected,
  case
    when coalesce(expected_reads, 0) < 1 then concat('expected_reads ', coalesce(cast(expected_reads as string), 'null'))
    else 'cause EXPECTED_READS of an accessed entry'
  end as observed,
  array(pass_id, seq) as seqs,
  true as sure
from events
where op = 'REQUEUE' and cause = 'EXPECTED_READS'
  and (coalesce(expected_reads, 0) < 1 or (accessed and extend_accessed))
