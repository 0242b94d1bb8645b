-- Each event of a life with the state before it, within an island: how the life began (`first`), the values of its last
-- INSERT, REQUEUE or opening snapshot (`given`), whether it was hit since (`marked`), and how far the requeue count
-- shown is ahead of the requeues recorded (`off`); and the values that the last event showed (`.._before`). An event is
-- wrong if it agrees with neither, so that one wrong value is reported once. Only lives that begin in the island are
-- followed, until they end.
with touched as (
  select
    e.broker, seq, op, cause, cache, ledger_id, entry_id, e.life, size_bytes, requeues, accessed, stamp_ns, tail_no,
    many, island,
    op = 'INSERT' or (op = 'SNAPSHOT' and cause = 'OPEN') as begins,
    case
      when op in ('INSERT', 'REQUEUE') then coalesce(new_stamp_ns, case when virtual then ts_ns end)
      when op = 'SNAPSHOT' and cause = 'OPEN' then stamp_ns
    end as stamped,
    sum(case when op = 'REQUEUE' and not (split_budget and cause = 'ACCESSED') then 1 else 0 end)
      over (partition by e.broker, e.life, island order by seq rows between unbounded preceding and current row) as steps
  from events e join brokers b on e.broker = b.broker
  where e.life is not null
    and op in ('INSERT', 'SNAPSHOT', 'HIT', 'READ_DONE', 'EXPECT', 'REQUEUE', 'EVICT', 'REMOVE')
),
chained as (
  select
    *,
    requeues - steps as off,
    last_value(requeues - steps, true) over past as off_before,
    last_value(case when begins or op = 'REQUEUE' then stamped else stamp_ns end, true) over past as stamp_before,
    last_value(
      case when op = 'HIT' then true when op in ('INSERT', 'REQUEUE') then false else accessed end, true
    ) over past as mark_before,
    last_value(cache, true) over past as cache_before,
    last_value(ledger_id, true) over past as ledger_before,
    last_value(entry_id, true) over past as entry_before,
    last_value(size_bytes, true) over past as size_before,
    first_value(struct(
      begins as begins, cache as cache, ledger_id as ledger_id, entry_id as entry_id, size_bytes as size_bytes,
      case when op = 'INSERT' then coalesce(requeues, 0) else requeues end as off
    )) over upto as first,
    last_value(
      case
        when begins or op = 'REQUEUE' then struct(
          seq as at, op as op, stamped as stamp_ns, tail_no as tail_no,
          case when op = 'SNAPSHOT' then accessed else false end as accessed
        )
      end, true
    ) over past as given,
    max(case when op = 'HIT' then seq end) over past as hit_seq,
    max(case when op = 'SNAPSHOT' and cause = 'END' then seq end) over past as shown_seq,
    max(case when op in ('EVICT', 'REMOVE') then seq end) over past as gone_seq
  from touched
  window
    past as (partition by broker, life, island order by seq rows between unbounded preceding and 1 preceding),
    upto as (partition by broker, life, island order by seq rows between unbounded preceding and current row)
)
select
  *,
  first.off as first_off,
  first.cache as first_cache, first.ledger_id as first_ledger, first.entry_id as first_entry,
  first.size_bytes as first_size,
  given.at as given_seq, given.op as given_op, given.stamp_ns as given_stamp, given.tail_no as given_slot,
  coalesce(hit_seq > given.at, false) or given.accessed as marked
from chained
where first.begins and not begins and gone_seq is null
