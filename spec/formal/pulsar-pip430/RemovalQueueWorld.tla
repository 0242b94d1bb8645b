------------------------- MODULE RemovalQueueWorld --------------------------
(***************************************************************************)
(* Every sequence of the events of a small world, each edge printed as     *)
(* `before | <<event, answer, counts>> | after`. The bounds are             *)
(* those of the explorer's world of the same name; the two are compared.   *)
(***************************************************************************)
EXTENDS RemovalQueue, TLC

CONSTANTS Caches,    \* their names, in order
          Events,    \* a sequence of records
          Slots,     \* nothing new is inserted while the queue is that long, dead slots counted
          Least, Greatest,   \* counts of expected reads
          Looks,     \* whether what changes nothing happens too: inserts of what is cached, lookups of what is not
          Oldest,    \* from this age on no event tells two ages apart
          Most       \* from this number of requeues on none tells two numbers apart

VARIABLES s, did

Happens(e) ==
  IF e.always THEN TRUE
  ELSE IF e.op = "insert" THEN IF Has(s, e.key) THEN Looks ELSE Len(s.queue) < Slots
  ELSE IF ~Has(s, e.one) THEN Looks
  ELSE IF e.op \in {"mark_read", "expect_read"}
  THEN LET count == s.entries[e.one].count
       IN IF count = <<>> THEN Looks ELSE IF e.op = "mark_read" THEN count[1] > Least ELSE count[1] < Greatest
  ELSE TRUE

Uncounted == [s EXCEPT !.counts = Empty.counts]

Init == s = Empty /\ did = <<>>

Next == \E number \in DOMAIN Events :
          /\ Happens(Events[number])
          /\ LET done == Step(Uncounted, Events[number])
                 counts == done.state.counts
             IN s' = done.state /\ did' = <<number, done.answer, counts.inserted, counts.evicted, counts.cycles>>

-----------------------------------------------------------------------------
(* What of a state later events can tell apart.                            *)

AtMost(number, most) == IF number < most THEN number ELSE most

Slot(t, key) ==
  IF key = Dead THEN <<>>
  ELSE LET entry == t.entries[key]
       IN <<key, entry.size, AtMost(t.now - entry.stamp, Oldest), AtMost(entry.requeues, Most), entry.accessed,
            entry.count>>

Shown(t) == <<[at \in DOMAIN Caches |-> Caches[at] \in t.opened], t.settings.max, t.settings.watermark, t.settings.ttl,
              t.settings.requeues, t.settings.extend, t.scheduled, t.bytes, [at \in DOMAIN t.queue |-> Slot(t, t.queue[at])]>>

View == Shown(s)
Edge == PrintT(ToString(Shown(s)) \o " | " \o ToString(did') \o " | " \o ToString(Shown(s')))
AlwaysSound == Sound(s)
=============================================================================
