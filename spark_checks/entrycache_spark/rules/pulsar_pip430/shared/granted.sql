-- Each HIT, ASK, delivery and end of a read with the permits that are out for this read at that moment, where every PERMIT
-- names its read.
with naming as (
  select broker from events where op = 'PERMIT' group by broker having count(read_id) = count(*)
)
select
  e.*, b.starts and not b.gapped as known,
  sum(case when op = 'PERMIT' and cause = 'TAKEN' then permits when op = 'PERMIT' and cause = 'GIVEN' then -permits else 0 end)
    over (partition by e.broker, read_id order by seq rows between unbounded preceding and current row) as out_now,
  max(case when op = 'PERMIT' then seq end)
    over (partition by e.broker, read_id order by seq rows between unbounded preceding and current row) as permit_seq
from events e join brokers b on e.broker = b.broker
where read_id is not null
  and (op in ('PERMIT', 'HIT', 'ASK', 'READ_END') or (op = 'READ_DONE' and cause = 'DELIVERED'))
  and e.broker in (select broker from naming)
