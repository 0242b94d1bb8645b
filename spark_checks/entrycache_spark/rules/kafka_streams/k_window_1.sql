-- K-WINDOW-1: a view answers windows or sessions by the segment of their time, then by key, then by time; backward in
-- reverse. The time of a window is its start, that of a session its end. Each entry
-- belongs to a view of its store, and has its direction.

-- checked
op = 'VIEW_ENTRY' and window_start is not null

-- over stored
op = 'VIEW_ENTRY' and whole and kind <> 'kv' and case direction when 'BACKWARD' then rises when 'FORWARD' then falls else false end

-- expected
concat('an entry ', case when direction = 'BACKWARD' then 'before ' else 'after ' end, 'the one before in the order of the store')

-- observed
concat('a VIEW_ENTRY of time ', cast(time as string))

-- seqs
array(entry_seq, seq)

-- sure
not many

-- over stored: an entry of no view, or of one that goes the other way
op = 'VIEW_ENTRY' and whole and kind <> 'kv' and (is_of_no_view or turns)

-- expected
case when turns then 'the direction of the view' else 'a VIEW of this store' end

-- observed
concat('a VIEW_ENTRY of view ', coalesce(cast(pass_id as string), 'null'))

-- seqs
case when view_seq is null then array(seq) else array(view_seq, seq) end

-- sure
not many

-- over stored: a value that decides is not recorded
whole and (
  (op = 'STORE_OPEN' and (store_kind is null or (kind <> 'kv' and segment_interval is null)))
  or (kind <> 'kv' and op = 'VIEW_ENTRY' and seq in (causeless_seq, viewless_seq, nameless_seq, timeless_seq))
  or (kind <> 'kv' and op = 'VIEW' and seq in (causeless_seq, viewless_seq))
)

-- expected
'the value, which decides the rule'

-- observed
concat('a ', op, ' without ', case op when 'STORE_OPEN' then case when store_kind is null then 'store_kind' when kind <> 'kv' and segment_interval is null then 'value.segment_interval' end else unrecorded end)

-- sure
false
