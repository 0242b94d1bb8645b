------------------------------ MODULE Decision ------------------------------
(***************************************************************************)
(* What a pass does with the slot at the head. The module is generated     *)
(* from the table DECISION of the reference, line by line, by `python -m   *)
(* entrycache_dev.pages.tla_decision`. The first line that fits decides.   *)
(***************************************************************************)

Decide(gone, halt, touched, expected, spare) ==
  IF gone THEN "MISSING" \* R-EVICT-1
  ELSE IF ~gone /\ halt THEN "STOP" \* R-EVICT-2
  ELSE IF ~gone /\ ~halt /\ touched THEN "REQUEUE_ACCESSED" \* R-REQUEUE-1
  ELSE IF ~gone /\ ~halt /\ ~touched /\ expected /\ spare THEN "REQUEUE_EXPECTED" \* R-REQUEUE-2
  ELSE IF ~gone /\ ~halt /\ ~touched /\ expected /\ ~spare THEN "REMOVE" \* R-REQUEUE-3
  ELSE IF ~gone /\ ~halt /\ ~touched /\ ~expected THEN "REMOVE" \* R-EVICT-3
  ELSE "NO LINE"
=============================================================================
