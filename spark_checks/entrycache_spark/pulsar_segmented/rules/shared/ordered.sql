-- Each event beside its neighbours in the order of the broker, and the turn that is under way, where nothing is missing.
select
  *, before.ts_ns as ts_before, before.at as seen_before, before.op as op_before, case when whole then edge.at end as pass_before,
  case when whole and in_turn then edge.at end as open_pass
from over_ringed
