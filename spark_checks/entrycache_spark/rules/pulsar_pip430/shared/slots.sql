-- Each event that gives a slot of the removal queue, takes one, shows the head, or sums up (PASS_END), with the state
-- before it in the same island: how many slots the rows gave and took (`n_given`, `n_taken`), and the last numbers that
-- rows showed (`given_number`, `taken_number`). Events other than INSERT also have the next event (`next_one`) and the
-- stamp that the event after that shows. `in_order`: each slot's number is its place by `seq`; `drift`: the difference
-- between the numbers and the number of slots.
with moved as (
  select
    e.broker, seq, op, cause, e.life, tail_no, head_no, stamp_ns, many, island, b.numbered, b.unlinked, b.complete,
    e.island = b.first_island and b.starts as whole,
    op in ('INSERT', 'REQUEUE') or (op = 'SNAPSHOT' and cause = 'OPEN') as gives,
    op in ('EVICT', 'REQUEUE', 'TOMBSTONE') as takes
  from events e join brokers b on e.broker = b.broker
  where op in ('INSERT', 'REQUEUE', 'EVICT', 'TOMBSTONE', 'PASS_END', 'SNAPSHOT', 'REMOVE')
),
counted as (
  select
    *,
    coalesce(sum(case when gives then 1 else 0 end) over past, 0) as n_given,
    coalesce(sum(case when takes then 1 else 0 end) over past, 0) as n_taken,
    last_value(case when gives then tail_no + 1 when op = 'PASS_END' then tail_no end, true) over past as given_number,
    last_value(case when takes then head_no + 1 when op = 'PASS_END' then head_no end, true) over past as taken_number,
    lead(struct(seq as at, op as op, stamp_ns as stamp_ns))
      over (partition by broker, island, op = 'INSERT' order by seq) as next_one,
    lead(stamp_ns, 2) over (partition by broker, island, op = 'INSERT' order by seq) as stamp_then
  from moved
  window past as (partition by broker, island order by seq rows between unbounded preceding and 1 preceding)
)
select
  *,
  max(case when whole and gives and tail_no <> n_given then 1 else 0 end) over (partition by broker) = 0 as in_order,
  sum(case when whole and gives then tail_no - n_given else 0 end) over (partition by broker) as drift
from counted
