-- R-REQUEUE-6: requeues for expected reads stay within the limit, by the count that the row states and by the requeues
-- recorded. So the life of an entry that nobody reads is bounded.

-- checked
op = 'REQUEUE' and cause = 'EXPECTED_READS'

-- needs
max_requeues of REQUEUE EXPECTED_READS

-- window
with had as (
  select
    broker, seq, life, op, cause, requeues, max_requeues, pass_id,
    sum(
      case
        when op = 'SNAPSHOT' then coalesce(requeues, 0)
        when split_budget and cause = 'ACCESSED' then 0
        else 1
      end
    ) over (partition by broker, life order by seq rows between unbounded preceding and current row) as counted
  from events
  where life is not null and (op = 'REQUEUE' or (op = 'SNAPSHOT' and cause = 'OPEN'))
)
select
  broker, seq, life,
  concat('at most ', cast(max_requeues as string), ' requeues') as expected,
  concat('requeue ', cast(greatest(counted, requeues) as string)) as observed,
  array(pass_id, seq) as seqs,
  true as sure
from had
where op = 'REQUEUE' and cause = 'EXPECTED_READS' and (requeues > max_requeues or counted > max_requeues)
