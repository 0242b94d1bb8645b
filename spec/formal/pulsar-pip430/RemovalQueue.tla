---------------------------- MODULE RemovalQueue ----------------------------
(***************************************************************************)
(* The caches of one broker after the rules in spec/pulsar-pip430: entries, *)
(* the removal queue, counts of expected reads, the two passes, and what   *)
(* triggers them. One operator an operation: it takes a state and answers  *)
(* the state after it with what the operation tells. Written from the      *)
(* texts; only Decision.tla is generated, from the decision table.         *)
(*                                                                         *)
(* A key is <<cache, ledger, entry>>. What may be missing is a sequence of *)
(* nothing or of one thing.                                                *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets, Decision

CONSTANTS Start,     \* the settings that a run begins with
          Eviction   \* "inline" or "manual" (R-TRIGGER-2, R-TRIGGER-4)

Dead == <<>>         \* a slot whose entry has left by a call

Empty == [now |-> 0, settings |-> Start, opened |-> {}, entries |-> [key \in {} |-> 0], queue |-> <<>>,
          bytes |-> 0, scheduled |-> FALSE, counts |-> [inserted |-> 0, evicted |-> 0, cycles |-> 0]]

Done(s, answer) == [state |-> s, answer |-> answer, refused |-> FALSE]
Refuse(s) == [state |-> s, answer |-> "illegal-argument", refused |-> TRUE]

Has(s, key) == key \in DOMAIN s.entries
Without(f, keys) == [key \in DOMAIN f \ keys |-> f[key]]
With(f, key, value) == [other \in DOMAIN f \cup {key} |-> IF other = key THEN value ELSE f[other]]

RECURSIVE Sum(_, _)
Sum(entries, keys) == IF keys = {} THEN 0
                      ELSE LET key == CHOOSE key \in keys : TRUE
                           IN entries[key].size + Sum(entries, keys \ {key})

Below(one, other) == one[1] < other[1] \/ (one[1] = other[1] /\ one[2] < other[2])
UpTo(one, other) == one = other \/ Below(one, other)
Position(key) == <<key[2], key[3]>>

RECURSIVE Ascending(_)
Ascending(positions) == IF positions = {} THEN <<>>
                        ELSE LET least == CHOOSE one \in positions : \A other \in positions : UpTo(one, other)
                             IN <<least>> \o Ascending(positions \ {least})

-----------------------------------------------------------------------------
(* A pass: R-EVICT-1 to 8, R-EXPIRE-1 and 2, R-REQUEUE-1 to 8. `bound` is  *)
(* the cutoff of a time pass, or what a size pass is to free.              *)

Halts(kind, bound, freed, entry) == IF kind = "time" THEN entry # <<>> /\ ~(entry[1].stamp < bound)
                                    ELSE freed >= bound

Touched(entry, settings) == settings.extend /\ entry.accessed
Expected(entry) == entry.count # <<>> /\ entry.count[1] >= 1
Spare(entry, settings) == entry.requeues < settings.requeues

Verdict(s, kind, bound, freed) ==
  LET head == Head(s.queue)
      entry == IF head = Dead THEN <<>> ELSE <<s.entries[head]>>
      halt == Halts(kind, bound, freed, entry)
  IN IF entry = <<>> THEN Decide(TRUE, halt, FALSE, FALSE, FALSE)
     ELSE Decide(FALSE, halt, Touched(entry[1], s.settings), Expected(entry[1]), Spare(entry[1], s.settings))

Requeued(s, entry) == [entry EXCEPT !.stamp = s.now, !.accessed = FALSE, !.requeues = @ + 1]

(* What is left of a pass after the slot at the head was taken. *)
Take(p, action) ==
  LET s == p.state
      head == Head(s.queue)
      rest == Tail(s.queue)
  IN CASE action = "MISSING" -> [p EXCEPT !.state.queue = rest]
       [] action \in {"REQUEUE_ACCESSED", "REQUEUE_EXPECTED"} ->
            [p EXCEPT !.state.queue = Append(rest, head),
                      !.state.entries = With(s.entries, head, Requeued(s, s.entries[head]))]
       [] action = "REMOVE" ->
            [p EXCEPT !.state.queue = rest, !.state.entries = Without(s.entries, {head}),
                      !.removed = @ + 1, !.freed = @ + s.entries[head].size]

RECURSIVE Walk(_, _, _)
Walk(p, kind, bound) ==
  IF p.state.queue = <<>> THEN p
  ELSE LET action == Verdict(p.state, kind, bound, p.freed)
       IN IF action = "STOP" THEN p ELSE Walk(Take(p, action), kind, bound)

Begun(s) == [state |-> s, removed |-> 0, freed |-> 0]

Pass(s, kind, bound) ==
  LET p == Walk(Begun(s), kind, bound)
  IN [p EXCEPT !.state.bytes = @ - p.freed, !.state.counts.evicted = @ + p.removed]

Removed(p) == Done(p.state, <<p.removed, p.freed>>)

Expire(s, e) ==
  LET older == IF e.older = <<>> THEN s.settings.ttl ELSE e.older[1]
  IN IF older < 0 THEN Refuse(s) ELSE Removed(Pass(s, "time", s.now - older))

Evict(s, e) == IF e.bytes <= 0 THEN Refuse(s) ELSE Removed(Pass(s, "size", e.bytes))

-----------------------------------------------------------------------------
(* What triggers a size pass: R-TRIGGER-1 to 9. Products of whole numbers: *)
(* the worlds have limits for which the IEEE products are the same.        *)

TriggerBytes(s) == (s.settings.max * 98) \div 100
TargetBytes(s) == (s.settings.max * s.settings.watermark[1]) \div s.settings.watermark[2]

ToTarget(s) ==
  IF s.bytes <= TriggerBytes(s) \/ s.bytes <= TargetBytes(s) THEN Begun(s)
  ELSE LET p == Pass(s, "size", s.bytes - TargetBytes(s)) IN [p EXCEPT !.state.counts.cycles = @ + 1]

Offered(s) ==
  IF s.bytes <= TriggerBytes(s) THEN s
  ELSE IF Eviction = "manual" THEN [s EXCEPT !.scheduled = TRUE]
  ELSE ToTarget(s).state

Cycle(s) ==
  LET expired == Pass(s, "time", s.now - s.settings.ttl)
      relieved == ToTarget(expired.state)
  IN Done(relieved.state, <<expired.removed + relieved.removed, expired.freed + relieved.freed>>)

RunScheduled(s) == IF s.scheduled THEN Removed(ToTarget([s EXCEPT !.scheduled = FALSE])) ELSE Done(s, <<0, 0>>)

-----------------------------------------------------------------------------
(* Insert, look up, count: R-INSERT-1 to 6, R-READ, R-COUNT, R-STATE-7.    *)

New(s, e) == [size |-> e.size, stamp |-> s.now, requeues |-> 0, accessed |-> FALSE,
              count |-> IF e.expected # <<>> /\ e.expected[1] > 0 THEN e.expected ELSE <<>>]

Insert(s, e) ==
  IF e.size < 0 THEN Refuse(s)
  ELSE IF Start.max = 0 \/ Has(s, e.key) THEN Done(s, FALSE)
  ELSE Done(Offered([s EXCEPT !.entries = With(s.entries, e.key, New(s, e)), !.queue = Append(@, e.key),
                              !.bytes = @ + e.size, !.counts.inserted = @ + 1]), TRUE)

Marked(s, keys) == [s EXCEPT !.entries = [key \in DOMAIN @ |-> [@[key] EXCEPT !.accessed = @ \/ key \in keys]]]

Get(s, e) == Done(Marked(s, {e.key}), Has(s, e.key))

Found(s, cache, first, last) ==
  {key \in DOMAIN s.entries : key[1] = cache /\ UpTo(first, Position(key)) /\ UpTo(Position(key), last)}

GetRange(s, e) ==
  LET found == Found(s, e.cache, e.first, e.last)
  IN Done(Marked(s, found), Ascending({Position(key) : key \in found}))

Count(s, e, by) ==
  IF ~Has(s, e.key) \/ s.entries[e.key].count = <<>> THEN Done(s, <<>>)
  ELSE LET count == s.entries[e.key].count[1] + by
       IN Done([s EXCEPT !.entries = With(s.entries, e.key, [s.entries[e.key] EXCEPT !.count = <<count>>])], <<count>>)

Usage(s, keys) == Done(s, <<Cardinality(keys), Sum(s.entries, keys)>>)

Of(s, cache) == {key \in DOMAIN s.entries : key[1] = cache}

-----------------------------------------------------------------------------
(* Removal by a call leaves slots dead in their places: R-INVALIDATE-1 to 9. *)

Drop(s, keys) ==
  LET bytes == Sum(s.entries, keys)
      left == [s EXCEPT !.entries = Without(s.entries, keys), !.bytes = @ - bytes,
                        !.queue = [at \in DOMAIN @ |-> IF @[at] \in keys THEN Dead ELSE @[at]],
                        !.counts.evicted = @ + Cardinality(keys)]
  IN Done(left, <<Cardinality(keys), bytes>>)

RemoveRange(s, e) ==
  LET end(key) == IF e.inclusive THEN UpTo(Position(key), e.last) ELSE Below(Position(key), e.last)
  IN Drop(s, {key \in Of(s, e.cache) : UpTo(e.first, Position(key)) /\ end(key)})

InvalidateBefore(s, e) == Drop(s, {key \in Of(s, e.cache) : Below(Position(key), e.position)})
InvalidateLedger(s, e) == Drop(s, {key \in Of(s, e.cache) : key[2] = e.ledger})
RemoveCache(s, e) == Done(Drop(s, Of(s, e.cache)).state, <<>>)

-----------------------------------------------------------------------------
(* Time and settings: R-STATE-4 and 6, R-CONFIG. What is <<>> stays.       *)

Advance(s, e) == IF e.nanos < 0 THEN Refuse(s) ELSE Done([s EXCEPT !.now = @ + e.nanos], <<>>)

Or(given, old) == IF given = <<>> THEN old ELSE given[1]

Configure(s, e) ==
  LET bad(given) == given # <<>> /\ given[1] < 0
      limit == e.max # <<>> /\ (e.max[1] = 0 \/ Start.max = 0)
      share == e.watermark # <<>> /\ (e.watermark[1][1] < 0 \/ e.watermark[1][1] > e.watermark[1][2])
      old == s.settings
  IN IF bad(e.max) \/ limit \/ share \/ bad(e.ttl) \/ bad(e.requeues) THEN Refuse(s)
     ELSE Done([s EXCEPT !.settings = [max |-> Or(e.max, old.max), watermark |-> Or(e.watermark, old.watermark),
                                       ttl |-> Or(e.ttl, old.ttl), requeues |-> Or(e.requeues, old.requeues),
                                       extend |-> Or(e.extend, old.extend)]], <<>>)

-----------------------------------------------------------------------------

Do(s, e) ==
  CASE e.op = "insert" -> Insert(s, e)
    [] e.op = "get" -> Get(s, e)
    [] e.op = "get_range" -> GetRange(s, e)
    [] e.op = "exists" -> Done(s, Has(s, e.key))
    [] e.op = "remove_range" -> RemoveRange(s, e)
    [] e.op = "clear" -> Drop(s, Of(s, e.cache))
    [] e.op = "usage" -> Usage(s, IF e.of = <<>> THEN DOMAIN s.entries ELSE Of(s, e.of[1]))
    [] e.op = "observe" -> Done(s, <<>>)
    [] e.op = "advance" -> Advance(s, e)
    [] e.op = "expire" -> Expire(s, e)
    [] e.op = "evict" -> Evict(s, e)
    [] e.op = "mark_read" -> Count(s, e, -1)
    [] e.op = "expect_read" -> Count(s, e, 1)
    [] e.op = "cycle" -> Cycle(s)
    [] e.op = "run_scheduled" -> RunScheduled(s)
    [] e.op = "configure" -> Configure(s, e)
    [] e.op = "invalidate_before" -> InvalidateBefore(s, e)
    [] e.op = "invalidate_ledger" -> InvalidateLedger(s, e)
    [] e.op = "remove_cache" -> RemoveCache(s, e)

(* R-STATE-5: a refused step changes nothing. R-STATE-9: the first other   *)
(* one that names a cache opens it. `names` are the caches that it names.  *)
Step(s, e) ==
  LET done == Do([s EXCEPT !.opened = @ \cup e.names], e)
  IN IF done.refused THEN Refuse(s) ELSE done

-----------------------------------------------------------------------------

Live(s) == {at \in DOMAIN s.queue : s.queue[at] # Dead}

Sound(s) ==
  /\ s.bytes = Sum(s.entries, DOMAIN s.entries)                                       \* R-STATE-1
  /\ {s.queue[at] : at \in Live(s)} = DOMAIN s.entries                                \* R-STATE-2
  /\ Cardinality(Live(s)) = Cardinality(DOMAIN s.entries)
  /\ \A one, other \in Live(s) :                                                      \* R-STATE-3
        one < other => s.entries[s.queue[one]].stamp <= s.entries[s.queue[other]].stamp
  /\ \A key \in DOMAIN s.entries : s.entries[key].stamp <= s.now
=============================================================================
