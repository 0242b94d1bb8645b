-- Each delivery that names its read, with the delivery of the same entry to the same read before it.
select
  e.*, b.starts and not b.gapped as known,
  lag(seq) over (partition by e.broker, read_id, ledger_id, entry_id order by seq) as done_before
from events e join brokers b on e.broker = b.broker
where op = 'READ_DONE' and cause = 'DELIVERED' and read_id is not null and entry_id is not null
