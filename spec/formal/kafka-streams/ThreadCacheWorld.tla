-------------------------- MODULE ThreadCacheWorld --------------------------
(***************************************************************************)
(* Every sequence of the events of a small world, each edge printed as     *)
(* `before | <<event, answer, calls, counts>> | after`. The                *)
(* events are those of the explorer's world of the same name; the two are  *)
(* compared.                                                               *)
(***************************************************************************)
EXTENDS ThreadCache, TLC

CONSTANTS Spaces,    \* the names of all namespaces, in order
          Before,    \* what happens before the first event
          Events     \* a sequence of records

VARIABLES s, did

RECURSIVE After(_, _)
After(c, events) == IF events = <<>> THEN c ELSE After(Step(c, Head(events)).state, Tail(events))

(* Counters grow without bound, and nothing looks at them: each step begins with none. *)
Uncounted(c) == [c EXCEPT !.counts = Empty.counts,
                          !.spaces = [ns \in DOMAIN @ |-> [@[ns] EXCEPT !.counts = Silent]]]

Counted(c) == <<ThreadCounts(c),
                [at \in DOMAIN Spaces |-> IF There(c, Spaces[at]) THEN SpaceCounts(c.spaces[Spaces[at]]) ELSE <<>>]>>

Calls(c) == [at \in DOMAIN c.calls |-> <<c.calls[at].ns, c.calls[at].entries, c.calls[at].inner>>]

Init == s = After(Empty, Before) /\ did = <<>>

Next == \E number \in DOMAIN Events :
          LET done == Step(Uncounted(s), Events[number])
          IN s' = done.state /\ did' = <<number, done.answer, Calls(done.state), Counted(done.state)>>

-----------------------------------------------------------------------------
(* What of a state later events can tell apart.                            *)

Node(key, node) == <<key, node.value, node.dirty, node.size>>

Space(space) == <<[at \in DOMAIN space.recent |-> Node(space.recent[at], space.nodes[space.recent[at]])], space.dirty,
                  IF space.listener = <<>> THEN <<>> ELSE <<space.listener[1].script, space.listener[1].fails>>>>

Shown(c) == <<c.limit, [at \in DOMAIN Spaces |-> IF There(c, Spaces[at]) THEN Space(c.spaces[Spaces[at]]) ELSE <<>>]>>

View == Shown(s)
Edge == PrintT(ToString(Shown(s)) \o " | " \o ToString(did') \o " | " \o ToString(Shown(s')))
AlwaysSound == Sound(s)
=============================================================================
