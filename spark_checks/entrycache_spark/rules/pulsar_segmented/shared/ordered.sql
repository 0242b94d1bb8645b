-- Each event with its neighbours in the order of the broker, and the turn in progress, if no event is missing. There is
-- one kind of pass, which no call requests.
select
  *, before.ts_ns as ts_before, before.at as seen_before, before.op as op_before, case when whole then edge.at end as pass_before,
  case when whole and in_turn then edge.at end as open_pass, 'TURN' as pass_kind, 'TURN' as kind_before,
  cast(null as string) as pass_origin, cast(null as string) as origin
from over_ringed
