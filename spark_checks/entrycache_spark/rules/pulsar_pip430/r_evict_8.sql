-- R-EVICT-8: passes take slots in the order in which the queue holds them, oldest first.

-- checked
op in ('EVICT', 'REQUEUE', 'TOMBSTONE')

-- needs
life of INSERT, EVICT, REQUEUE

-- window: the slot of an entry is the one of its last INSERT or REQUEUE, by number if the trace has numbers, else by
-- order. A dequeue is wrong if it is the first to skip an older slot that is still held
with chain as (
  select
    e.broker, e.seq, e.life, e.op, e.island, e.ticket, e.head_no, b.numbered,
    case
      when e.op not in ('INSERT', 'REQUEUE', 'SNAPSHOT') then null
      when b.numbered then e.tail_no
      else e.seq
    end as slot_no,
    lead(e.seq) over (partition by e.broker, e.life order by e.seq) as left_seq,
    lead(e.op) over (partition by e.broker, e.life order by e.seq) as left_op,
    lead(e.ticket) over (partition by e.broker, e.life order by e.seq) as left_ticket,
    lead(e.island) over (partition by e.broker, e.life order by e.seq) as left_island,
    lag(e.op) over (partition by e.broker, e.life order by e.seq) as op_before,
    lag(e.island) over (partition by e.broker, e.life order by e.seq) as island_before,
    max(
      case
        when e.op not in ('INSERT', 'REQUEUE', 'SNAPSHOT') then null
        when b.numbered then e.tail_no
        else e.seq
      end
    ) over (partition by e.broker, e.life order by e.seq rows between unbounded preceding and 1 preceding) as held_no
  from events e join brokers b on e.broker = b.broker
  where e.life is not null
    and (e.op in ('INSERT', 'REQUEUE', 'EVICT', 'REMOVE', 'TOMBSTONE') or (e.op = 'SNAPSHOT' and e.cause = 'OPEN'))
),
stays as (
  select
    broker, slot_no, seq as given_seq, island as given_island,
    case when left_island = island or (numbered and left_ticket = slot_no) then left_seq end as left_seq,
    case
      when left_op in ('EVICT', 'REQUEUE') and (left_island = island or (numbered and left_ticket = slot_no))
        then left_seq
    end as taken_seq
  from chain
  where slot_no is not null
  union all
  select
    e.broker, case when b.numbered then e.ticket end as slot_no, null as given_seq, null as given_island,
    e.seq as left_seq, e.seq as taken_seq
  from events e join brokers b on e.broker = b.broker
  where e.op = 'TOMBSTONE' and b.numbered
),
slots as (
  select
    broker, slot_no, max(given_seq) as given_seq, max(given_island) as given_island,
    min(left_seq) as left_seq, min(taken_seq) as taken_seq
  from stays
  where slot_no is not null
  group by broker, slot_no
),
behind as (
  select
    *,
    min(taken_seq)
      over (partition by broker order by slot_no desc rows between unbounded preceding and 1 preceding) as passed_seq
  from slots
),
jumps as (
  select
    broker, passed_seq as seq, min(slot_no) as older_no, min(left_seq) as older_left_seq,
    max(case when left_seq is null then 0 else 1 end) as older_seen, max(given_island) as older_island
  from behind
  where given_seq is not null and passed_seq is not null and coalesce(left_seq > passed_seq, true)
  group by broker, passed_seq
),
numbers as (
  select
    broker, seq, life, op, ticket, head_no, held_no,
    op <> 'TOMBSTONE' and op_before <> 'REMOVE' and island = island_before and ticket <> held_no as other_slot,
    ticket - head_no as ahead,
    coalesce(lag(ticket - head_no) over (partition by broker order by seq), 0) as ahead_before,
    coalesce(
      lead(ticket - head_no) over (partition by broker order by seq),
      lag(ticket - head_no) over (partition by broker order by seq),
      0
    ) as ahead_after
  from chain
  where numbered and op in ('EVICT', 'REQUEUE', 'TOMBSTONE') and op_before in ('INSERT', 'REQUEUE', 'SNAPSHOT', 'REMOVE')
),
passed_over as (
  select /*+ BROADCAST(j) */
    e.broker, e.seq, e.life, 1 as place,
    concat('the slot given at ', cast(older_no as string), ' or an older one') as expected,
    concat(e.op, ' of a younger slot') as observed,
    case
      when j.older_left_seq is null then array(e.seq)
      else array(e.seq, j.older_left_seq)
    end as seqs,
    not (e.many and not b.numbered) as sure
  from events e join jumps j on e.broker = j.broker and e.seq = j.seq join brokers b on e.broker = b.broker
  where j.older_seen = 1 or j.older_island >= e.island
  union all
  select
    broker, seq, life, case when ticket > held_no then 2 else 3 end as place,
    concat('ticket ', cast(held_no as string)) as expected,
    concat('ticket ', cast(ticket as string)) as observed,
    array(seq) as seqs,
    true as sure
  from numbers
  where other_slot
  union all
  select
    n.broker, n.seq, n.life, 4 as place,
    concat('head_no ', cast(n.head_no + n.ahead - n.ahead_before as string)) as expected,
    concat('head_no ', cast(n.head_no as string)) as observed,
    array(n.seq) as seqs,
    true as sure
  from numbers n join brokers b on n.broker = b.broker
  where not b.unlinked and not b.gapped and b.starts and n.ahead <> n.ahead_before and n.ahead_after = n.ahead_before
),
ranked as (
  select *, min(place) over (partition by broker) as first_place from passed_over
)
select broker, seq, life, expected, observed, seqs, sure
from ranked
where place = first_place
