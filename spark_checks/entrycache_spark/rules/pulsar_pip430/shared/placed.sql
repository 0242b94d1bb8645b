-- Each event about a position with the state of the position before it: `held_before` is 1 for an entry (of
-- `life_before`), 0 for none, and null if that is unknown; and the last miss there. After missing events the state is
-- unknown.
with touched as (
  select
    e.*, b.gapped, b.first_seq, e.island = b.first_island and b.starts as whole,
    case
      when op = 'INSERT' or (op = 'SNAPSHOT' and e.life is not null) then 1
      when op in ('EVICT', 'REMOVE') then 0
    end as leaves_it
  from events e join brokers b on e.broker = b.broker
  where entry_id is not null
    and (op in ('INSERT', 'EVICT', 'REMOVE', 'HIT', 'MISS', 'REJECT') or (op = 'SNAPSHOT' and cause = 'OPEN'))
)
select
  *,
  coalesce(
    last_value(leaves_it, true) over (
      partition by broker, island, cache, ledger_id, entry_id order by seq
      rows between unbounded preceding and 1 preceding
    ),
    case when whole then 0 end
  ) as held_before,
  last_value(case when leaves_it is not null then coalesce(life, -9223372036854775807) end, true) over (
    partition by broker, island, cache, ledger_id, entry_id order by seq
    rows between unbounded preceding and 1 preceding
  ) as life_before,
  max(case when leaves_it is not null then seq end) over (
    partition by broker, island, cache, ledger_id, entry_id order by seq
    rows between unbounded preceding and 1 preceding
  ) as changed_seq,
  last_value(case when op = 'MISS' then call_id end, true) over (
    partition by broker, island, cache, ledger_id, entry_id order by seq
    rows between unbounded preceding and 1 preceding
  ) as missed_call,
  last_value(case when op = 'MISS' then cause end, true) over (
    partition by broker, island, cache, ledger_id, entry_id order by seq
    rows between unbounded preceding and 1 preceding
  ) as missed_cause,
  max(case when op = 'MISS' then seq end) over (
    partition by broker, island, cache, ledger_id, entry_id order by seq
    rows between unbounded preceding and 1 preceding
  ) as missed_seq
from touched
