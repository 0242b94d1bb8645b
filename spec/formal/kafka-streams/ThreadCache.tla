---------------------------- MODULE ThreadCache -----------------------------
(***************************************************************************)
(* The cache of one stream thread after the rules in spec/kafka-streams,   *)
(* level `cache`: namespaces with their order of use and of dirty keys, a  *)
(* limit in bytes, and listeners that may act on the cache while it hands  *)
(* something over to them. One operator an operation: it takes a state and *)
(* answers the state after it, what the operation tells, and its error.    *)
(* Written from the texts.                                                 *)
(*                                                                         *)
(* What may be missing is a sequence of nothing or of one thing: a value   *)
(* <<>> is a tombstone, a listener <<>> is none.                           *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS Limit,     \* the limit that a run begins with, in bytes
          Budget,    \* so many calls of one step perform their steps (K-LISTEN-3)
          Scripts,   \* what listeners do: a sequence of sequences of operations
          Keys       \* every key, ascending

Silent == [hits |-> 0, misses |-> 0, overwrites |-> 0, flushes |-> 0]
Fresh == [nodes |-> [key \in {} |-> 0], recent |-> <<>>, dirty |-> <<>>, listener |-> <<>>, counts |-> Silent]

(* `writes` numbers the writes; `called` and `calls` are those of the step under way. *)
Empty == [limit |-> Limit, spaces |-> [ns \in {} |-> 0], writes |-> 0, called |-> 0, calls |-> <<>>,
          counts |-> [puts |-> 0, gets |-> 0, evicts |-> 0, flushes |-> 0]]

Done(c, answer) == [state |-> c, answer |-> answer, error |-> ""]
Fail(c, error) == [state |-> c, answer |-> error, error |-> error]

Without(f, one) == [other \in DOMAIN f \ {one} |-> f[other]]
With(f, one, value) == [other \in DOMAIN f \cup {one} |-> IF other = one THEN value ELSE f[other]]
Drop(keys, one) == LET Stays(key) == key # one IN SelectSeq(keys, Stays)
First(keys, one) == <<one>> \o Drop(keys, one)
Last(keys, one) == Append(Drop(keys, one), one)

There(c, ns) == ns \in DOMAIN c.spaces
Cached(c, ns, key) == There(c, ns) /\ key \in DOMAIN c.spaces[ns].nodes
Created(c, ns) == IF There(c, ns) THEN c ELSE [c EXCEPT !.spaces = With(@, ns, Fresh)]
IsDirty(space, key) == \E at \in DOMAIN space.dirty : space.dirty[at] = key

(* K-SIZE-1, for writes that carry nothing but a key and a value of ASCII letters. *)
Size(key, value) == Len(key) + (IF value = <<>> THEN 0 ELSE Len(value[1])) + 1 + 8 + 8 + 4 + 24

RECURSIVE SumOf(_, _)
SumOf(nodes, keys) == IF keys = {} THEN 0
                      ELSE LET key == CHOOSE key \in keys : TRUE IN nodes[key].size + SumOf(nodes, keys \ {key})
Bytes(space) == SumOf(space.nodes, DOMAIN space.nodes)

RECURSIVE TotalOf(_, _)
TotalOf(c, names) == IF names = {} THEN 0
                     ELSE LET ns == CHOOSE ns \in names : TRUE IN Bytes(c.spaces[ns]) + TotalOf(c, names \ {ns})
Total(c) == TotalOf(c, DOMAIN c.spaces)

Removed(space, key) == [space EXCEPT !.nodes = Without(@, key), !.recent = Drop(@, key), !.dirty = Drop(@, key)]

-----------------------------------------------------------------------------
(* Lookups: K-GET-1 to 4, K-RANGE-1 to 3, K-DELETE-1 and 2, K-METRICS.     *)

Looked(space, key) ==
  IF key \in DOMAIN space.nodes THEN [space EXCEPT !.recent = First(@, key), !.counts.hits = @ + 1]
  ELSE [space EXCEPT !.counts.misses = @ + 1]

Get(c, e) ==
  LET counted == [c EXCEPT !.counts.gets = @ + 1]
  IN IF e.key = <<>> \/ ~There(c, e.ns) THEN Done(counted, <<FALSE, <<>>>>)
     ELSE LET key == e.key[1]
              after == [counted EXCEPT !.spaces[e.ns] = Looked(@, key)]
          IN IF Cached(c, e.ns, key) THEN Done(after, <<TRUE, c.spaces[e.ns].nodes[key].value>>)
             ELSE Done(after, <<FALSE, <<>>>>)

Rank(key) == CHOOSE at \in DOMAIN Keys : Keys[at] = key

Between(space, e) ==
  LET Stays(key) == /\ key \in DOMAIN space.nodes
                    /\ e.from = <<>> \/ Rank(key) >= Rank(e.from[1])
                    /\ e.to = <<>> \/ Rank(key) < Rank(e.to[1]) \/ (e.inclusive /\ key = e.to[1])
  IN SelectSeq(Keys, Stays)

Turned(keys) == [at \in DOMAIN keys |-> keys[Len(keys) + 1 - at]]

RECURSIVE LookedAll(_, _)
LookedAll(space, keys) == IF keys = <<>> THEN space ELSE LookedAll(Looked(space, Head(keys)), Tail(keys))

List(c, e) ==
  IF ~There(c, e.ns) THEN Done(c, <<>>)
  ELSE LET space == c.spaces[e.ns]
           keys == IF e.reverse THEN Turned(Between(space, e)) ELSE Between(space, e)
       IN Done([c EXCEPT !.spaces[e.ns] = LookedAll(@, keys)],
               [at \in DOMAIN keys |-> <<keys[at], space.nodes[keys[at]].value>>])

Delete(c, e) ==
  IF ~Cached(c, e.ns, e.key) THEN Done(c, <<FALSE, <<>>>>)
  ELSE Done([c EXCEPT !.spaces[e.ns] = Removed(@, e.key)], <<TRUE, c.spaces[e.ns].nodes[e.key].value>>)

Usage(c, e) ==
  LET names == IF e.of = <<>> THEN DOMAIN c.spaces ELSE {e.of[1]} \cap DOMAIN c.spaces
      keys == {<<ns, key>> \in names \X {Keys[at] : at \in DOMAIN Keys} : Cached(c, ns, key)}
  IN Done(c, <<Cardinality(keys), TotalOf(c, names)>>)

SpaceCounts(space) == <<space.counts.hits, space.counts.misses, space.counts.overwrites, space.counts.flushes>>
ThreadCounts(c) == <<c.counts.puts, c.counts.gets, c.counts.evicts, c.counts.flushes>>

Metrics(c, e) ==
  IF e.of = <<>> THEN Done(c, ThreadCounts(c))
  ELSE LET space == IF There(c, e.of[1]) THEN c.spaces[e.of[1]] ELSE Fresh
       IN Done(c, SpaceCounts(space) \o <<space.dirty, space.recent>>)

-----------------------------------------------------------------------------
(* Handing over: K-FLUSH-1 to 6, K-EVICT-1 to 3, K-LISTEN-1 to 4.          *)

RECURSIVE Do(_, _), HandOver(_, _, _), Perform(_, _, _), Overflow(_, _), Turns(_, _), PutEach(_, _, _)

(* The steps of the call with that number, one after another; an error ends neither the others nor the call. *)
Perform(c, steps, call) ==
  IF steps = <<>> THEN c
  ELSE LET done == Do(c, Head(steps))
       IN Perform([done.state EXCEPT !.calls[call].inner = Append(@, done.answer)], Tail(steps), call)

(* After the call a tombstone goes where that very write is still there. *)
RECURSIVE Served(_, _, _, _)
Served(c, ns, nodes, keys) ==
  IF keys = <<>> THEN c
  ELSE LET key == Head(keys)
           same == /\ nodes[key].value = <<>> /\ Cached(c, ns, key)
                   /\ c.spaces[ns].nodes[key].write = nodes[key].write
       IN Served(IF same THEN [c EXCEPT !.spaces[ns] = Removed(@, key)] ELSE c, ns, nodes, Tail(keys))

Clean(space) == [space EXCEPT !.dirty = <<>>, !.nodes = [key \in DOMAIN @ |-> [@[key] EXCEPT !.dirty = FALSE]]]

(* Hands every dirty entry of a namespace to its listener; `evicted` is a dirty key that leaves, and goes first. *)
HandOver(c, ns, evicted) ==
  LET space == c.spaces[ns]
      others == IF evicted = <<>> THEN space.dirty ELSE Drop(space.dirty, evicted[1])
      keys == evicted \o others
      once == [c EXCEPT !.spaces[ns].counts.flushes = @ + 1]
      looked == [once EXCEPT !.spaces[ns].counts.hits = @ + Len(others), !.called = @ + 1,
                             !.calls = Append(@, [ns |-> ns, inner |-> <<>>, entries |->
                                         [at \in DOMAIN keys |-> <<keys[at], space.nodes[keys[at]].value>>]])]
  IN IF space.listener = <<>> THEN Fail(once, "illegal-argument")
     ELSE IF keys = <<>> THEN Done(once, <<>>)
     ELSE IF space.listener[1].fails > 0
     THEN Fail([looked EXCEPT !.spaces[ns].listener[1].fails = @ - 1], "listener-failed")
     ELSE LET left == IF evicted = <<>> THEN looked.spaces[ns] ELSE Removed(looked.spaces[ns], evicted[1])
              handed == [looked EXCEPT !.spaces[ns] = Clean(left)]
              steps == IF looked.called > Budget THEN <<>> ELSE Scripts[space.listener[1].script]
          IN Done(Served(Perform(handed, steps, Len(looked.calls)), ns, space.nodes, others), <<>>)

Flush(c, e) ==
  LET counted == [c EXCEPT !.counts.flushes = @ + 1]
  IN IF There(c, e.ns) THEN HandOver(counted, e.ns, <<>>) ELSE Done(counted, <<>>)

Holds(c, ns) == There(c, ns) /\ c.spaces[ns].recent # <<>>

EvictEldest(c, ns) ==
  IF ~Holds(c, ns) THEN Done(c, <<>>)
  ELSE LET space == c.spaces[ns]
           eldest == space.recent[Len(space.recent)]
       IN IF space.nodes[eldest].dirty THEN HandOver(c, ns, <<eldest>>)
          ELSE Done([c EXCEPT !.spaces[ns] = Removed(@, eldest)], <<>>)

(* K-EVICT-4 to 6: who writes pays. *)
Overflow(c, ns) ==
  IF Total(c) <= c.limit \/ ~Holds(c, ns) THEN Done(c, <<>>)
  ELSE LET done == EvictEldest(c, ns)
       IN IF done.error # "" THEN done ELSE Overflow([done.state EXCEPT !.counts.evicts = @ + 1], ns)

-----------------------------------------------------------------------------
(* Writes: K-PUT-1 to 8.                                                   *)

Written(c, ns, w) ==
  LET space == c.spaces[ns]
      node == [value |-> w.value, dirty |-> w.dirty, size |-> Size(w.key, w.value), write |-> c.writes]
      over == IF w.key \in DOMAIN space.nodes THEN 1 ELSE 0
  IN [c EXCEPT !.writes = @ + 1,
               !.spaces[ns] = [space EXCEPT !.nodes = With(@, w.key, node), !.recent = First(@, w.key),
                                            !.dirty = IF w.dirty THEN Last(@, w.key) ELSE @,
                                            !.counts.overwrites = @ + over]]

Put(c, ns, w) ==
  LET counted == [Created(c, ns) EXCEPT !.counts.puts = @ + 1]
  IN IF ~w.dirty /\ IsDirty(counted.spaces[ns], w.key) THEN Fail(counted, "illegal-state")
     ELSE Overflow(Written(counted, ns, w), ns)

PutEach(c, ns, writes) ==
  IF writes = <<>> THEN Done(c, <<>>)
  ELSE LET done == Put(c, ns, Head(writes))
       IN IF done.error # "" THEN done ELSE PutEach(done.state, ns, Tail(writes))

PutIfAbsent(c, e) ==
  LET there == Created(c, e.ns)
      present == Cached(there, e.ns, e.write.key)
      existing == IF present THEN there.spaces[e.ns].nodes[e.write.key].value ELSE <<>>
      looked == [there EXCEPT !.spaces[e.ns] = Looked(@, e.write.key)]
      done == Overflow(IF present THEN looked ELSE Written(looked, e.ns, e.write), e.ns)
  IN IF done.error # "" THEN done
     ELSE Done([done.state EXCEPT !.counts.puts = @ + (IF present THEN 0 ELSE 1)], <<present, existing>>)

-----------------------------------------------------------------------------
(* The rest: K-LISTEN-5, K-CLOSE-1 and 2, K-RESIZE-1 to 3.                 *)

Listen(c, e) ==
  Done([Created(c, e.ns) EXCEPT !.spaces[e.ns].listener = <<[script |-> e.script, fails |-> e.fails]>>], <<>>)

Clear(c, e) ==
  IF ~There(c, e.ns) THEN Done(c, <<>>)
  ELSE Done([c EXCEPT !.spaces[e.ns] = [Fresh EXCEPT !.listener = c.spaces[e.ns].listener,
                                                    !.counts = c.spaces[e.ns].counts]], <<>>)

(* The texts leave the order of several namespaces open; no world lowers the limit while there are two. *)
Turns(c, names) ==
  IF Total(c) <= c.limit THEN Done(c, <<>>)
  ELSE LET ns == CHOOSE ns \in names : TRUE
           done == EvictEldest(c, ns)
       IN IF done.error # "" THEN done
          ELSE LET turned == [done.state EXCEPT !.counts.evicts = @ + 1] IN Turns(turned, DOMAIN turned.spaces)

Resize(c, e) ==
  LET limited == [c EXCEPT !.limit = e.limit]
  IN IF e.limit >= c.limit THEN Done(limited, <<>>) ELSE Turns(limited, DOMAIN c.spaces)

Do(c, e) ==
  CASE e.op = "put" -> Put(c, e.ns, e.write)
    [] e.op = "put_all" -> PutEach(c, e.ns, e.writes)
    [] e.op = "put_if_absent" -> PutIfAbsent(c, e)
    [] e.op = "get" -> Get(c, e)
    [] e.op = "delete" -> Delete(c, e)
    [] e.op = "list" -> List(c, e)
    [] e.op = "listen" -> Listen(c, e)
    [] e.op = "flush" -> Flush(c, e)
    [] e.op = "evict" -> EvictEldest(c, e.ns)
    [] e.op = "clear" -> Clear(c, e)
    [] e.op = "close" -> Done([c EXCEPT !.spaces = Without(@, e.ns)], <<>>)
    [] e.op = "resize" -> Resize(c, e)
    [] e.op = "usage" -> Usage(c, e)
    [] e.op = "metrics" -> Metrics(c, e)

(* A step begins with no calls. *)
Step(c, e) == Do([c EXCEPT !.called = 0, !.calls = <<>>], e)

-----------------------------------------------------------------------------

Elements(sequence) == {sequence[at] : at \in DOMAIN sequence}

SoundSpace(space) ==
  /\ Elements(space.recent) = DOMAIN space.nodes /\ Len(space.recent) = Cardinality(DOMAIN space.nodes)
  /\ Elements(space.dirty) = {key \in DOMAIN space.nodes : space.nodes[key].dirty}
  /\ Len(space.dirty) = Cardinality(Elements(space.dirty))

Sound(c) == \A ns \in DOMAIN c.spaces : SoundSpace(c.spaces[ns])
=============================================================================
