------------------------------ MODULE Wrapper -------------------------------
(***************************************************************************)
(* The protocol round one entry's wrapper, with threads: readers without a *)
(* lock, removals by a call, one evicting thread, inserts, and a pool that *)
(* hands wrappers and values out again. Each step is what one thread does  *)
(* between two points at which another may come in; what is done under a   *)
(* wrapper's write lock is one step.                                       *)
(*                                                                         *)
(* Each guard that a release has, or once lacked, is a constant. With all  *)
(* of them every invariant holds; without one of them TLC finds the race.  *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS
  Keys, Wrappers, Values,     \* positions; pooled wrappers; pooled values, more than there are positions
  Readers, Removers, Writers, \* threads, each of which does one thing and is done
  Evictors,         \* threads that go on for ever
  ValidatesRead,    \* an optimistic read of key and value is taken only if nobody wrote meanwhile
  FailsAtZero,      \* a value whose count is 0 cannot be retained
  ChecksAgain,      \* after the retain a reader looks at the value's position again
  RemovesSame,      \* a removal acts only if the wrapper still has that key, and takes out that wrapper only
  MapFirst,         \* an insert fills the map before the queue
  RecyclesAfterPoll,\* only the evicting thread gives a wrapper back, after it has left the queue
  ForgetsAll,       \* a wrapper that is given back is as a new one: nobody has parsed what it holds
  PassesAlone       \* one evicting thread at a time

None == "none"
Free == [key |-> None, value |-> None, version |-> 0, accessed |-> FALSE, parsed |-> FALSE]

VARIABLES
  wrapper,  \* key, value, version (counts the writes), accessed, parsed (whether its value's metadata are known)
  value,    \* position, count of references, parsed
  map,      \* position -> wrapper
  queue,    \* wrappers, head first
  pool,     \* wrappers that may be used anew
  thread,   \* what each thread does, and what it has seen
  size,     \* the accounted entries
  wrong     \* what a thread met that must not be

vars == <<wrapper, value, map, queue, pool, thread, size, wrong>>

Idle == [at |-> "idle", key |-> None, wrapper |-> None, value |-> None, version |-> 0, saw |-> None]
Threads == Readers \cup Removers \cup Writers \cup Evictors

Init ==
  /\ wrapper = [w \in Wrappers |-> Free]
  /\ value = [v \in Values |-> [key |-> None, count |-> 0, parsed |-> FALSE]]
  /\ map = [k \in Keys |-> None]
  /\ queue = <<>>
  /\ pool = Wrappers
  /\ thread = [t \in Threads |-> Idle]
  /\ size = 0
  /\ wrong = None

Goes(t, at) == thread' = [thread EXCEPT ![t].at = at]
Blame(what) == wrong' = IF wrong = None THEN what ELSE wrong

FreeValues == {v \in Values : value[v].count = 0}

Release(values, v) == [values EXCEPT ![v].count = @ - 1]

-----------------------------------------------------------------------------
(* An insert: a wrapper of the pool and a value of the pool; the map, then *)
(* the queue (or the other way round). The wrapper's lock is held all the  *)
(* time, which matters to others only through RemovesSame.                 *)

Begin(t, k) ==
  /\ thread[t].at = "idle" /\ pool # {} /\ FreeValues # {}
  /\ \E w \in pool, v \in FreeValues :
        /\ pool' = pool \ {w}
        /\ value' = [value EXCEPT ![v] = [key |-> k, count |-> 1, parsed |-> FALSE]]
        /\ wrapper' = [wrapper EXCEPT ![w].key = k, ![w].value = v, ![w].version = @ + 1, ![w].accessed = FALSE]
        /\ thread' = [thread EXCEPT ![t] = [Idle EXCEPT !.at = IF MapFirst THEN "map" ELSE "queue first",
                                                        !.key = k, !.wrapper = w, !.value = v]]
  /\ UNCHANGED <<map, queue, size, wrong>>

GivenBack(w) == [wrapper EXCEPT ![w].key = None, ![w].value = None, ![w].version = @ + 1, ![w].accessed = FALSE,
                                ![w].parsed = IF ForgetsAll THEN FALSE ELSE @]

Queued(t) ==
  /\ thread[t].at \in {"queue first", "queue"}
  /\ queue' = Append(queue, thread[t].wrapper)
  /\ Goes(t, IF thread[t].at = "queue" THEN "done" ELSE "map")
  /\ UNCHANGED <<wrapper, value, map, pool, size, wrong>>

Mapped(t) ==
  /\ thread[t].at = "map"
  /\ LET k == thread[t].key
         w == thread[t].wrapper
     IN IF map[k] = None
        THEN /\ map' = [map EXCEPT ![k] = w]
             /\ size' = size + 1
             /\ Goes(t, IF MapFirst THEN "queue" ELSE "done")
             /\ UNCHANGED <<wrapper, value, pool, queue, wrong>>
        ELSE \* a duplicate: the first insert wins, wrapper and value go back
             /\ wrapper' = GivenBack(w)
             /\ pool' = pool \cup {w}
             /\ value' = Release(value, thread[t].value)
             /\ Goes(t, "done")
             /\ UNCHANGED <<map, queue, size, wrong>>

-----------------------------------------------------------------------------
(* A read: look the wrapper up, copy its key and its value without a lock, *)
(* retain the value, look at it again, use it, release it.                 *)

LooksUp(t, k) ==
  /\ thread[t].at = "idle"
  /\ thread' = [thread EXCEPT ![t] = IF map[k] = None THEN [Idle EXCEPT !.at = "done"]
                                     ELSE [Idle EXCEPT !.at = "key", !.key = k, !.wrapper = map[k]]]
  /\ UNCHANGED <<wrapper, value, map, queue, pool, size, wrong>>

ReadsKey(t) ==
  /\ thread[t].at = "key"
  /\ LET w == wrapper[thread[t].wrapper]
     IN thread' = [thread EXCEPT ![t].at = "value", ![t].saw = w.key, ![t].version = w.version]
  /\ UNCHANGED <<wrapper, value, map, queue, pool, size, wrong>>

ReadsValue(t) ==
  /\ thread[t].at = "value"
  /\ LET w == wrapper[thread[t].wrapper]
         valid == w.version = thread[t].version
     IN thread' = [thread EXCEPT ![t].at = IF ValidatesRead /\ ~valid THEN "key"
                                           ELSE IF thread[t].saw # thread[t].key THEN "done" ELSE "mark",
                                 ![t].value = w.value]
  /\ UNCHANGED <<wrapper, value, map, queue, pool, size, wrong>>

\* The mark is written outside any lock: it may fall on what was requeued or used anew meanwhile (harmless: the entry
\* stays once more). The first read parses the metadata, under the lock; a wrapper that holds another value is a miss.
Marks(t) ==
  /\ thread[t].at = "mark"
  /\ LET w == thread[t].wrapper
         v == thread[t].value
         same == wrapper[w].value = v /\ v # None
         parses == same /\ ~wrapper[w].parsed
     IN /\ wrapper' = [wrapper EXCEPT ![w].accessed = TRUE, ![w].parsed = @ \/ parses]
        /\ value' = IF parses THEN [value EXCEPT ![v].parsed = TRUE] ELSE value
        /\ Goes(t, IF same \/ v = None THEN "retain" ELSE "done")
  /\ UNCHANGED <<map, queue, pool, size, wrong>>

Retains(t) ==
  /\ thread[t].at = "retain"
  /\ LET v == thread[t].value
     IN IF v = None
        THEN /\ Blame("a reader takes what is not there") /\ Goes(t, "done") /\ UNCHANGED value
        ELSE IF value[v].count = 0
        THEN IF FailsAtZero THEN Goes(t, "done") /\ UNCHANGED <<value, wrong>>
             ELSE Blame("a value is touched after its end") /\ Goes(t, "done") /\ UNCHANGED value
        ELSE value' = [value EXCEPT ![v].count = @ + 1] /\ Goes(t, "check") /\ UNCHANGED wrong
  /\ UNCHANGED <<wrapper, map, queue, pool, size>>

Checks(t) ==
  /\ thread[t].at = "check"
  /\ IF ChecksAgain /\ value[thread[t].value].key # thread[t].key
     THEN value' = Release(value, thread[t].value) /\ Goes(t, "done")
     ELSE Goes(t, "has") /\ UNCHANGED value
  /\ UNCHANGED <<wrapper, map, queue, pool, size, wrong>>

LetsGo(t) ==
  /\ thread[t].at = "has"
  /\ value' = Release(value, thread[t].value)
  /\ Goes(t, "done")
  /\ UNCHANGED <<wrapper, map, queue, pool, size, wrong>>

-----------------------------------------------------------------------------
(* Out of the map and the wrapper, one step under the wrapper's lock.      *)

TakenOut(k, w) ==
  LET v == wrapper[w].value
  IN IF RemovesSame
     THEN IF wrapper[w].key = k /\ map[k] = w
          THEN /\ map' = [map EXCEPT ![k] = None]
               /\ wrapper' = [wrapper EXCEPT ![w].key = None, ![w].value = None, ![w].version = @ + 1]
               /\ value' = Release(value, v)
               /\ size' = size - 1
               /\ UNCHANGED wrong
          ELSE UNCHANGED <<map, wrapper, value, size, wrong>>
     ELSE \* whatever is there now
          /\ map' = [map EXCEPT ![k] = None]
          /\ wrapper' = [wrapper EXCEPT ![w].key = None, ![w].value = None, ![w].version = @ + 1]
          /\ size' = size - 1
          /\ IF v = None THEN Blame("an entry is removed twice") /\ UNCHANGED value
             ELSE value' = Release(value, v) /\ UNCHANGED wrong

Finds(t, k) ==
  /\ thread[t].at = "idle" /\ map[k] # None
  /\ thread' = [thread EXCEPT ![t] = [Idle EXCEPT !.at = "remove", !.key = k, !.wrapper = map[k]]]
  /\ UNCHANGED <<wrapper, value, map, queue, pool, size, wrong>>

Unlocked(w) == \A t \in Writers : thread[t].wrapper = w => thread[t].at \notin {"map", "queue", "queue first"}

Removes(t) ==
  /\ thread[t].at = "remove" /\ Unlocked(thread[t].wrapper)
  /\ TakenOut(thread[t].key, thread[t].wrapper)
  /\ Goes(t, IF RecyclesAfterPoll THEN "done" ELSE "recycle")
  /\ UNCHANGED <<queue, pool>>

Recycles(t) ==
  /\ thread[t].at = "recycle"
  /\ wrapper' = GivenBack(thread[t].wrapper)
  /\ pool' = pool \cup {thread[t].wrapper}
  /\ Goes(t, "done")
  /\ UNCHANGED <<value, map, queue, size, wrong>>

-----------------------------------------------------------------------------
(* An evicting thread: look at the head; under its lock drop, requeue or   *)
(* remove; take it from the queue; give it back.                           *)

Peeks(t) ==
  /\ thread[t].at = "idle" /\ queue # <<>>
  /\ PassesAlone => \A other \in Evictors : thread[other].at = "idle"
  /\ thread' = [thread EXCEPT ![t] = [Idle EXCEPT !.at = "decide", !.wrapper = Head(queue)]]
  /\ UNCHANGED <<wrapper, value, map, queue, pool, size, wrong>>

Decides(t) ==
  LET w == thread[t].wrapper
  IN /\ thread[t].at = "decide" /\ Unlocked(w)
     /\ IF wrapper[w].key = None
        THEN Goes(t, "poll") /\ UNCHANGED <<wrapper, value, map, size, wrong>>
        ELSE IF wrapper[w].accessed
        THEN /\ wrapper' = [wrapper EXCEPT ![w].accessed = FALSE, ![w].version = @ + 1]
             /\ Goes(t, "requeue")
             /\ UNCHANGED <<value, map, size, wrong>>
        ELSE TakenOut(wrapper[w].key, w) /\ Goes(t, "poll")
     /\ UNCHANGED <<queue, pool>>

Polls(t) ==
  /\ thread[t].at \in {"poll", "requeue"}
  /\ IF queue = <<>> THEN UNCHANGED <<queue, wrapper, pool>>
     ELSE LET taken == Head(queue)
              again == thread[t].at = "requeue"
          IN /\ queue' = IF again THEN Append(Tail(queue), taken) ELSE Tail(queue)
             /\ IF again THEN UNCHANGED <<wrapper, pool>>
                ELSE wrapper' = GivenBack(taken) /\ pool' = pool \cup {taken}
  /\ thread' = [thread EXCEPT ![t] = Idle]
  /\ UNCHANGED <<value, map, size, wrong>>

-----------------------------------------------------------------------------

Next ==
  \/ \E t \in Writers : \/ \E k \in Keys : Begin(t, k)
                        \/ Queued(t) \/ Mapped(t)
  \/ \E t \in Readers : \/ \E k \in Keys : LooksUp(t, k)
                        \/ ReadsKey(t) \/ ReadsValue(t) \/ Marks(t) \/ Retains(t) \/ Checks(t) \/ LetsGo(t)
  \/ \E t \in Removers : \/ \E k \in Keys : Finds(t, k)
                         \/ Removes(t) \/ Recycles(t)
  \/ \E t \in Evictors : Peeks(t) \/ Decides(t) \/ Polls(t)

-----------------------------------------------------------------------------

Cached == {k \in Keys : map[k] # None}
Holders(v) == {t \in Readers : thread[t].at \in {"check", "has"} /\ thread[t].value = v}
Bringers(v) == {t \in Writers : thread[t].at \in {"queue first", "map"} /\ thread[t].value = v}
AtRest == \A t \in Threads : thread[t].at \in {"idle", "done"}

NothingWrong == wrong = None

(* A value has one reference for each that holds it: the cache, a reader, an insert under way. *)
Balanced == \A v \in Values :
  value[v].count = Cardinality({k \in Cached : wrapper[map[k]].value = v}) + Cardinality(Holders(v))
                   + Cardinality(Bringers(v))

(* A reader has what it asked for as long as it holds it. *)
ReadsRight == \A t \in Readers : thread[t].at = "has" => value[thread[t].value].key = thread[t].key

(* What a wrapper says of its value is true. *)
SaysTrue == \A w \in Wrappers : wrapper[w].key # None /\ wrapper[w].parsed => value[wrapper[w].value].parsed

(* What may be used anew is neither in the queue nor in the map; no wrapper has two slots. *)
PoolIsFree == \A w \in pool : (\A at \in DOMAIN queue : queue[at] # w) /\ (\A k \in Keys : map[k] # w)
OneSlot == \A one, other \in DOMAIN queue : queue[one] = queue[other] => one = other

(* R-STATE-1 and 2, when nobody is under way. *)
Settled == AtRest =>
  /\ size = Cardinality(Cached)
  /\ \A k \in Cached : wrapper[map[k]].key = k /\ \E at \in DOMAIN queue : queue[at] = map[k]
=============================================================================
