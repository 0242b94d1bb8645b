-- R-REQUEUE-8: a requeue for expected reads needs a count of at least 1, and access comes first as the cause.

-- checked
op = 'REQUEUE' and cause = 'EXPECTED_READS'

-- needs
expected_reads of REQUEUE EXPECTED_READS

-- window
select
  broker, seq, life,
  case when expected_reads < 1 then 'expected_reads >= 1' else 'cause ACCESSED' end as expected,
  case
    when expected_reads < 1 then concat('expected_reads ', cast(expected_reads as string))
    else 'cause EXPECTED_READS of an accessed entry'
  end as observed,
  array(pass_id, seq) as seqs,
  true as sure
from events
where op = 'REQUEUE' and cause = 'EXPECTED_READS'
  and (expected_reads < 1 or (accessed and extend_accessed))
