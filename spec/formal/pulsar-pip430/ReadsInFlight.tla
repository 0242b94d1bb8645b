--------------------------- MODULE ReadsInFlight ----------------------------
(***************************************************************************)
(* Reads of one ledger that overlap in time, and the permits that they     *)
(* take. A reader waits for permits, reads, holds what it has got, and     *)
(* releases it. Storage gives all entries of an ask, only the first one,   *)
(* or an error. One entry takes one permit; nothing is cached.             *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS Readers, Length,  \* who reads, and how many entries the ledger has
          Answers,          \* the answers of storage that happen: "all", "fail", "short"
          Limit, Most,      \* the permits, and how many requests may wait
          Timeout           \* the ticks after which a waiting request fails; 0: never

VARIABLES
  phase,  \* reader -> "idle", "waits" for permits, "reads" or "holds"
  range,  \* reader -> the entries that it reads
  lost,   \* reader -> whether a part of its range has failed
  asks,   \* the open asks: entries, whether a later read may join, and who waits, in the order of joining
  queue,  \* the readers that wait for permits, head first
  age     \* reader -> the ticks that it has waited for permits

vars == <<phase, range, lost, asks, queue, age>>

Least(one, other) == IF one < other THEN one ELSE other
Members(sequence) == {sequence[at] : at \in DOMAIN sequence}
Ranges == {first..last : first \in 1..Length, last \in 1..Length} \ {{}}

(* What a reader takes: a permit an entry, and at most the limit. *)
Permits(entries) == Least(Cardinality(entries), Limit)

RECURSIVE Sum(_, _)
Sum(t, readers) == IF readers = {} THEN 0
                   ELSE LET one == CHOOSE r \in readers : TRUE IN Permits(t.range[one]) + Sum(t, readers \ {one})

(* The permits that nobody has. *)
Free(t) == Limit - Sum(t, {r \in Readers : t.phase[r] \notin {"idle", "waits"}})

State == [phase |-> phase, range |-> range, lost |-> lost, asks |-> asks, queue |-> queue, age |-> age]

Becomes(t) == /\ phase' = t.phase /\ range' = t.range /\ lost' = t.lost
              /\ asks' = t.asks /\ queue' = t.queue /\ age' = t.age

(* The maximal runs of a set of entries. *)
Runs(entries) == {run \in Ranges : /\ run \subseteq entries
                                   /\ \A larger \in Ranges : run \subseteq larger /\ larger \subseteq entries => larger = run}

Joins(ask) == ask.joinable

(* A reader joins the asks that it may, and asks for the rest. *)
Asked(t, r, entries) ==
  LET joined == {ask \in t.asks : Joins(ask) /\ ask.entries \cap entries # {}}
      rest == entries \ UNION {ask.entries : ask \in joined}
      now == {[ask EXCEPT !.waiting = Append(@, r)] : ask \in joined}
      new == {[entries |-> run, joinable |-> TRUE, waiting |-> <<r>>] : run \in Runs(rest)}
  IN [t EXCEPT !.asks = ((@ \ joined) \cup now) \cup new]

Begun(t, r) == Asked([t EXCEPT !.phase[r] = "reads"], r, t.range[r])

Fits(t, r) == Permits(t.range[r]) <= Free(t)

(* A request that comes while others wait is granted only if none does. *)
GrantedAtOnce(t, r) == t.queue = <<>> /\ Fits(t, r)

RECURSIVE Served(_)
Served(t) == IF t.queue # <<>> /\ Fits(t, Head(t.queue))
             THEN Served(Begun([t EXCEPT !.queue = Tail(@), !.age[Head(t.queue)] = 0], Head(t.queue)))
             ELSE t

Idle(t, r) == [t EXCEPT !.phase[r] = "idle", !.range[r] = {}, !.lost[r] = FALSE, !.age[r] = 0]

Waits(t, r) == \E ask \in t.asks : r \in Members(ask.waiting)

(* A read whose last part has been answered ends. It holds its entries, or it fails and its permits go back. *)
Failed(t, r) == Idle(t, r)
Ended(t, r) == IF t.phase[r] # "reads" \/ Waits(t, r) THEN t
               ELSE IF t.lost[r] THEN Failed(t, r) ELSE [t EXCEPT !.phase[r] = "holds"]

RECURSIVE EndedAll(_, _)
EndedAll(t, readers) == IF readers = <<>> THEN t ELSE EndedAll(Ended(t, Head(readers)), Tail(readers))

(* After a short answer a reader asks for what it still lacks. *)
RECURSIVE AskedAgain(_, _, _)
AskedAgain(t, readers, missing) ==
  IF readers = <<>> THEN t
  ELSE LET own == missing \cap t.range[Head(readers)]
           next == IF own = {} THEN t ELSE Asked(t, Head(readers), own)
       IN AskedAgain(next, Tail(readers), missing)

(* Everybody who waits learns of the answer. *)
Delivered(ask) == ask.waiting

FirstOf(entries) == CHOOSE one \in entries : \A other \in entries : one <= other

(* After an error no further read joins an open ask. *)
Sealed(others) == {[other EXCEPT !.joinable = FALSE] : other \in others}

Answered(t, ask, answer) ==
  LET left == [t EXCEPT !.asks = @ \ {ask}]
      readers == Delivered(ask)
      failed == [left EXCEPT !.asks = Sealed(@), !.lost = [r \in Readers |-> @[r] \/ r \in Members(readers)]]
      short == AskedAgain(left, readers, ask.entries \ {FirstOf(ask.entries)})
      given == IF answer = "all" THEN left ELSE IF answer = "fail" THEN failed ELSE short
  IN Served(EndedAll(given, readers))

Init == /\ phase = [r \in Readers |-> "idle"] /\ range = [r \in Readers |-> {}] /\ lost = [r \in Readers |-> FALSE]
        /\ asks = {} /\ queue = <<>> /\ age = [r \in Readers |-> 0]

Begins(r, entries) ==
  /\ phase[r] = "idle"
  /\ LET t == [State EXCEPT !.range[r] = entries]
     IN \/ GrantedAtOnce(t, r) /\ Becomes(Begun(t, r))
        \/ /\ ~GrantedAtOnce(t, r) /\ Len(queue) < Most
           /\ Becomes([t EXCEPT !.phase[r] = "waits", !.queue = Append(@, r)])

AnswersOne(r) == \E ask \in asks : /\ r \in Members(ask.waiting)
                                   /\ \E answer \in Answers : Becomes(Answered(State, ask, answer))

Released(t, r) == Served(Idle(t, r))
Releases(r) == phase[r] = "holds" /\ Becomes(Released(State, r))

RECURSIVE TimedOut(_)
TimedOut(t) == IF t.queue # <<>> /\ t.age[Head(t.queue)] >= Timeout
               THEN TimedOut(Idle([t EXCEPT !.queue = Tail(@)], Head(t.queue)))
               ELSE t

Ticks == /\ Timeout > 0 /\ queue # <<>>
         /\ LET older == [State EXCEPT !.age = [r \in Readers |-> IF phase[r] = "waits" THEN @[r] + 1 ELSE 0]]
            IN Becomes(Served(TimedOut(older)))

Next == \/ \E r \in Readers : Releases(r) \/ AnswersOne(r) \/ \E entries \in Ranges : Begins(r, entries)
        \/ Ticks

(* Storage goes on to answer what a reader waits for; time passes; who holds entries releases them. *)
StorageAnswers == \A r \in Readers : WF_vars(AnswersOne(r))
TimePasses == WF_vars(Ticks)
ReadersGoOn == \A r \in Readers : WF_vars(AnswersOne(r) \/ Releases(r))

Answering == Init /\ [][Next]_vars /\ StorageAnswers
Aging == Init /\ [][Next]_vars /\ TimePasses
Releasing == Init /\ [][Next]_vars /\ ReadersGoOn

(* All readers are equal, so the properties are about one of them. *)
One == CHOOSE r \in Readers : TRUE
(* A read that has begun ends. *)
ReadEnds == (phase[One] = "reads") ~> (phase[One] # "reads")
(* A request is granted or fails. *)
WaitEnds == (phase[One] = "waits") ~> (phase[One] # "waits")

EachReadWaits == \A r \in Readers : phase[r] = "reads" => Waits(State, r)
PermitsAreFree == Free(State) >= 0
HeadDoesNotFit == queue = <<>> \/ ~Fits(State, Head(queue))
JoinableAsksAreApart ==
  \A one, other \in asks : one.joinable /\ other.joinable /\ one # other => one.entries \cap other.entries = {}
=============================================================================
