------------------------------ MODULE AgeBound ------------------------------
(***************************************************************************)
(* How old an entry can get: a time pass begins at the latest `Interval`   *)
(* ticks after the last one, size passes at any time. An entry that nobody *)
(* reads is as old as (M + 1) * (ttl + Interval) at the most, where M is   *)
(* the number of requeues that expected reads may cause. Reads have no     *)
(* such bound.                                                             *)
(***************************************************************************)
EXTENDS RemovalQueue

CONSTANTS Offers,    \* the inserts that may happen, each once, as events
          Need, Interval,
          Reads,     \* the keys that are read
          Slack      \* 0; 1: the bound is claimed one tick too low

VARIABLES s, since, life, left   \* the state, ticks since the last time pass, ticks of each life, who has left

Bound == (Start.requeues + 1) * (Start.ttl + Interval)

Init == s = Empty /\ since = 0 /\ life = [key \in {Offers[at].key : at \in DOMAIN Offers} |-> 0] /\ left = {}

After(t) == s' = [t EXCEPT !.counts = Empty.counts] /\ left' = left \cup (DOMAIN s.entries \ DOMAIN t.entries)

Brings(e) == ~Has(s, e.key) /\ e.key \notin left /\ After(Insert(s, e).state) /\ UNCHANGED <<since, life>>

Ticks == /\ since < Interval /\ DOMAIN s.entries # {}
         /\ \A key \in DOMAIN s.entries : life[key] <= Bound
         /\ After([s EXCEPT !.now = @ + 1])
         /\ since' = since + 1
         /\ life' = [key \in DOMAIN life |-> IF Has(s, key) THEN life[key] + 1 ELSE life[key]]

Expires == After(Pass(s, "time", s.now - s.settings.ttl).state) /\ since' = 0 /\ UNCHANGED life
Relieves == After(Pass(s, "size", Need).state) /\ UNCHANGED <<since, life>>
ReadsOne(key) == Has(s, key) /\ After(Marked(s, {key})) /\ UNCHANGED <<since, life>>

Next == \/ \E at \in DOMAIN Offers : Brings(Offers[at])
        \/ \E key \in Reads : ReadsOne(key)
        \/ Ticks \/ Expires \/ Relieves

AgesAreBounded == \A key \in DOMAIN s.entries : life[key] <= Bound - Slack
=============================================================================
