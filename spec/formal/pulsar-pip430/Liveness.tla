------------------------------ MODULE Liveness ------------------------------
(***************************************************************************)
(* What must happen in the end. A pass is walked take by take, and readers *)
(* may come in between; time moves between passes. Ages saturate at        *)
(* `Oldest` and requeues at `Most`, so that there are finitely many states.*)
(***************************************************************************)
EXTENDS RemovalQueue

CONSTANTS Offers,       \* the inserts that may happen, as events
          Need,         \* what a size pass is to free
          Kinds,        \* the kinds of pass that are begun
          Reads,        \* the keys that are read
          ReadsInPass,  \* whether they are read while a pass is under way
          Oldest, Most

VARIABLES s,     \* the state of the cache
          walk,  \* <<>>, or the pass under way
          read   \* the key that the last step read, or <<>>

vars == <<s, walk, read>>

Least(one, other) == IF one < other THEN one ELSE other
Greatest(one, other) == IF one > other THEN one ELSE other

(* The same state with the present at `Oldest`: only ages matter. *)
Shifted(t) == [t EXCEPT !.now = Oldest, !.counts = Empty.counts, !.opened = {},
                        !.entries = [key \in DOMAIN @ |->
                           [@[key] EXCEPT !.stamp = Greatest(0, @ + Oldest - t.now), !.requeues = Least(@, Most)]]]

Init == s = Shifted(Empty) /\ walk = <<>> /\ read = <<>>

Brought(e) == /\ walk = <<>> /\ ~Has(s, e.key)
               /\ s' = Shifted(Insert(s, e).state) /\ read' = <<>> /\ UNCHANGED walk

Ticks == walk = <<>> /\ s' = Shifted([s EXCEPT !.now = @ + 1]) /\ read' = <<>> /\ UNCHANGED walk

Begins(kind) ==
  /\ walk = <<>>
  /\ walk' = <<[state |-> s, removed |-> 0, freed |-> 0, kind |-> kind,
                bound |-> IF kind = "time" THEN s.now - s.settings.ttl ELSE Need]>>
  /\ read' = <<>> /\ UNCHANGED s

(* A reader changes the cache also while a pass walks over it. *)
ReadsOne(key) ==
  /\ Has(s, key) /\ (walk = <<>> \/ ReadsInPass)
  /\ s' = Marked(s, {key})
  /\ walk' = IF walk = <<>> THEN <<>> ELSE <<[walk[1] EXCEPT !.state = s']>>
  /\ read' = key

Takes ==
  /\ walk # <<>>
  /\ LET p == walk[1]
         over == s.queue = <<>> \/ Verdict(s, p.kind, p.bound, p.freed) = "STOP"
         taken == Take([p EXCEPT !.state = s], Verdict(s, p.kind, p.bound, p.freed))
     IN IF over
        THEN walk' = <<>> /\ s' = [s EXCEPT !.bytes = @ - p.freed]
        ELSE s' = Shifted(taken.state) /\ walk' = <<[taken EXCEPT !.state = s']>>
  /\ read' = <<>>

BeginsTime == "time" \in Kinds /\ Begins("time")
BeginsSize == "size" \in Kinds /\ Begins("size")

Next == \/ \E at \in DOMAIN Offers : Brought(Offers[at])
        \/ \E key \in Reads : ReadsOne(key)
        \/ Ticks \/ BeginsTime \/ BeginsSize \/ Takes

(* Time passes for ever, time passes are begun for ever, and a pass goes on. *)
Fair == SF_vars(Ticks) /\ WF_vars(BeginsTime) /\ WF_vars(Takes)

Spec == Init /\ [][Next]_vars /\ Fair

AllKeys == {Offers[at].key : at \in DOMAIN Offers}

PassEnds == (walk # <<>>) ~> (walk = <<>>)
(* No entry is cached for ever without being read again and again. *)
UnreadLeaves == \A key \in AllKeys : []<>(~Has(s, key) \/ read = key)
(* Not promised: access has no bound. *)
EveryoneLeaves == \A key \in AllKeys : []<>(~Has(s, key))
=============================================================================
