-- R-INFLIGHT-9: what a read gives back takes nothing from any count. So no READ_DONE names a read after its READ_END FAILED:
-- it has given back all that it had got. With variant `failed_read` `counted` nothing is checked. What a read gives back
-- and reads again shows as a second READ_DONE, which R-INFLIGHT-4 names.

-- checked
op = 'READ_END' and cause = 'FAILED' and not counts_failed

-- needs
read_id of READ_END FAILED

-- window
with failed as (
  select broker, read_id, min(seq) as ended_seq
  from events
  where op = 'READ_END' and cause = 'FAILED' and read_id is not null and not counts_failed
  group by broker, read_id
)
select
  e.broker, e.seq, e.life,
  concat('no delivery after the read of seq ', cast(f.read_id as string), ' has failed') as expected,
  concat('READ_DONE of ', cast(e.ledger_id as string), ':', cast(e.entry_id as string)) as observed,
  array(f.ended_seq, e.seq) as seqs,
  true as sure
from events e join failed f on e.broker = f.broker and e.read_id = f.read_id
where e.op = 'READ_DONE' and e.cause = 'DELIVERED' and e.seq > f.ended_seq
