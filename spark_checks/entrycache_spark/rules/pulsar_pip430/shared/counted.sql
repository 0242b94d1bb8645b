-- The events that change or show the count of expected reads, with the one before in the same life and island.
with steps as (
  select
    e.broker, seq, e.life, op, cause, expected_reads, many, island, b.complete,
    case when op = 'READ_DONE' then -1 when op = 'EXPECT' then 1 else 0 end as step
  from events e join brokers b on e.broker = b.broker
  where e.life is not null
    and (
      op in ('INSERT', 'READ_DONE', 'EXPECT', 'EVICT', 'REMOVE', 'SNAPSHOT')
      or (op in ('HIT', 'REQUEUE') and expected_reads is not null and not many)
    )
),
chained as (
  select
    *,
    lag(seq) over (partition by broker, life, island order by seq) as seq_before,
    lag(expected_reads) over (partition by broker, life, island order by seq) as count_before,
    sum(step) over (partition by broker, life, island order by seq rows between unbounded preceding and current row)
      as steps,
    first_value(op = 'INSERT' or (op = 'SNAPSHOT' and cause = 'OPEN')) over (
      partition by broker, life, island order by seq rows between unbounded preceding and current row
    ) as begun,
    count(case when op = 'INSERT' then expected_reads end) over (partition by broker) > 0 as counts_inserts,
    first_value(op = 'INSERT') over (
      partition by broker, life, island order by seq rows between unbounded preceding and current row
    ) as inserted,
    first_value(expected_reads) over (
      partition by broker, life, island order by seq rows between unbounded preceding and current row
    ) as first_count,
    sum(step) over (partition by broker, life, island) as all_steps,
    sum(case when step <> 0 then token(expected_reads, 0) - token(expected_reads - step, 0) else 0 end)
      over (partition by broker, life, island) as all_moves,
    count(case when step <> 0 and expected_reads is null then 1 end) over (partition by broker, life, island) as unknown_steps,
    max(case when step <> 0 then seq end) over (partition by broker, life, island) as last_step_seq
  from steps
)
select
  *,
  first_count + steps as count_by_sum,
  unknown_steps = 0 and coalesce(all_moves <> token(first_count + all_steps, 0) - token(first_count, 0), false) as unbalanced
from chained
