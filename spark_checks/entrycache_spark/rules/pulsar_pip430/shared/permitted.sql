-- Each PERMIT with the permits that are out, the requests that wait, and the ticket of the head, before and after it; and
-- the request at the head after it. A waiting request leaves the queue with the ticket of its place. If requests waited,
-- later ones were answered and none has a ticket, the recorder gives none: then who waits is not known (`queue_known`).
-- `same_before`: how many grants of these permits are out, to the same read if every PERMIT names its read.
with lined as (
  select
    e.*, b.starts and not b.gapped as known,
    b.starts and not b.gapped and (
      count(ticket) over (partition by e.broker) > 0
      or coalesce(
        max(case when cause in ('TAKEN', 'REFUSED') then seq end) over (partition by e.broker)
        < min(case when cause = 'QUEUED' then seq end) over (partition by e.broker),
        true
      )
    ) as queue_known,
    coalesce(
      sum(case when cause = 'TAKEN' then permits when cause = 'GIVEN' then -permits else 0 end)
        over (partition by e.broker order by seq rows between unbounded preceding and 1 preceding),
      0
    ) as out_before,
    coalesce(
      sum(case when cause = 'QUEUED' then 1 when ticket is not null then -1 else 0 end)
        over (partition by e.broker order by seq rows between unbounded preceding and 1 preceding),
      0
    ) as waiting_before,
    coalesce(
      max(case when cause <> 'QUEUED' then ticket end)
        over (partition by e.broker order by seq rows between unbounded preceding and 1 preceding),
      -1
    ) + 1 as head_before,
    coalesce(
      max(case when cause = 'QUEUED' then tail_no end)
        over (partition by e.broker order by seq rows between unbounded preceding and 1 preceding),
      -1
    ) + 1 as place_before,
    max(seq) over (partition by e.broker order by seq rows between unbounded preceding and 1 preceding) as permit_before,
    count(e.read_id) over (partition by e.broker) = count(*) over (partition by e.broker) as names_reads,
    lead(call_id) over (partition by e.broker order by seq) as call_after
  from events e join brokers b on e.broker = b.broker
  where op = 'PERMIT'
),
moved as (
  select
    *,
    coalesce(
      sum(case when cause = 'TAKEN' then 1 when cause = 'GIVEN' then -1 else 0 end) over (
        partition by broker, case when names_reads then read_id end, permits order by seq
        rows between unbounded preceding and 1 preceding
      ),
      0
    ) as same_before,
    out_before + case when cause = 'TAKEN' then permits when cause = 'GIVEN' then -permits else 0 end as out_after,
    greatest(head_before, coalesce(case when cause <> 'QUEUED' then ticket end, -1) + 1) as head_after
  from lined
)
select
  m.*, q.seq as head_seq, q.permits as head_permits, w.seq as waited_seq, w.ts_ns as waited_ns,
  w.permits as waited_permits, w.read_id as waited_read,
  m.cause <> 'QUEUED' and q.seq < m.seq and coalesce(m.call_after <> m.call_id, m.call_id is not null)
    and case when q.permits > m.permits_now then m.out_after = 0 else q.permits <= m.permits_now - m.out_after end as leaves_head
from moved m
left join (select broker, tail_no, seq, permits from events where op = 'PERMIT' and cause = 'QUEUED') q
  on m.broker = q.broker and m.head_after = q.tail_no
left join (select broker, tail_no, seq, ts_ns, permits, read_id from events where op = 'PERMIT' and cause = 'QUEUED') w
  on m.broker = w.broker and m.ticket = w.tail_no
