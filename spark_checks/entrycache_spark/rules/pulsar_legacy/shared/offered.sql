-- Each offer with the bytes at its beginning (`held_at_offer`, shown by `held_at_seq`): those before the pass of its
-- own call that ends right before it, else those after the event before it. Each requested pass with the amounts that
-- the inserts since the pass before it requested (`first_amount`, `last_amount`; `n_vague`: inserts with nothing to
-- free).
with lined as (
  select
    e.*, b.gapped, b.fresh and e.island = b.first_island as whole, coalesce(manager_bytes, bytes_after) as held,
    op in ('INSERT', 'REJECT') or (op = 'SKIP' and cause in ('FULL', 'DISABLED')) as offer,
    lag(seq) over line as seq_before,
    lag(coalesce(manager_bytes, bytes_after)) over line as held_before,
    coalesce(
      lag(case when op = 'PASS_END' and cause = 'SIZE' and origin = 'TRIGGER' then call_id end) over line = call_id, false
    ) as own_pass,
    lead(op) over line as op_after,
    coalesce(
      lead(case when op in ('INSERT', 'REJECT') or (op = 'SKIP' and cause in ('FULL', 'DISABLED')) then call_id end) over line
        = call_id,
      false
    ) as offer_follows,
    max(case when op = 'PASS_BEGIN' and cause = 'SIZE' and origin = 'TRIGGER' then seq end) over past as begun_seq,
    last_value(
      case when op = 'PASS_BEGIN' and cause = 'SIZE' and origin = 'TRIGGER' then coalesce(manager_bytes, bytes_after) end, true
    ) over past as begun_held,
    sum(case when op = 'PASS_BEGIN' and cause = 'SIZE' and origin = 'TRIGGER' then 1 else 0 end) over past as runs
  from events e join brokers b on e.broker = b.broker
  window
    line as (partition by e.broker, island order by seq),
    past as (partition by e.broker, island order by seq rows between unbounded preceding and 1 preceding)
),
begun as (
  select
    *,
    case when offer then case when own_pass then begun_held else held_before end end as held_at_offer,
    case when own_pass then begun_seq else seq_before end as held_at_seq,
    coalesce(runs, 0) as run
  from lined
),
asking as (
  select *, case when manual and held_at_offer > trigger_now then held_at_offer - target_now end as amount from begun
)
select
  *,
  first_value(case when amount > 0 then amount end, true) over since as first_amount,
  last_value(case when amount > 0 then amount end, true) over since as last_amount,
  min(case when amount > 0 then seq end) over since as first_asked,
  coalesce(sum(case when amount <= 0 then 1 else 0 end) over since, 0) as n_vague
from asking
window since as (partition by broker, island, run order by seq rows between unbounded preceding and 1 preceding)
