-- K-VIEW-1: a view answers each key once, in ascending order of bytes, or in descending order if it goes backward, and no
-- key whose last write before the view was a deletion. It may if the key was written since an open view was opened. Each
-- entry belongs to a view of its store, has its direction, and lies in its range. A key has one name.

-- checked
op = 'VIEW_ENTRY' and window_start is null

-- over stored: a deleted key
op = 'VIEW_ENTRY' and whole and kind = 'kv' and deleted

-- expected
'no entry: the last write of the key was a deletion'

-- observed
'a VIEW_ENTRY'

-- seqs
array(put_seq, seq)

-- sure
not many

-- over stored: a key once more
op = 'VIEW_ENTRY' and whole and kind = 'kv' and first_shown < seq

-- expected
'each key once'

-- observed
'a VIEW_ENTRY once more'

-- seqs
array(first_shown, seq)

-- sure
not many

-- over stored: the order
op = 'VIEW_ENTRY' and whole and kind = 'kv' and case direction when 'BACKWARD' then rises when 'FORWARD' then falls else false end

-- expected
concat('a key ', case when direction = 'BACKWARD' then 'below ' else 'above ' end, 'the one before')

-- observed
value

-- seqs
array(entry_seq, seq)

-- sure
not many

-- over stored: an entry of no view, or of one that goes the other way
op = 'VIEW_ENTRY' and whole and kind = 'kv' and (is_of_no_view or turns)

-- expected
case when turns then 'the direction of the view' else 'a VIEW of this store' end

-- observed
concat('a VIEW_ENTRY of view ', coalesce(cast(pass_id as string), 'null'))

-- seqs
case when view_seq is null then array(seq) else array(view_seq, seq) end

-- sure
not many

-- over stored: an entry outside the range
op = 'VIEW_ENTRY' and whole and kind = 'kv' and is_out_of_range

-- expected
'an entry of the range of the view'

-- observed
coalesce(value, 'an entry of another time')

-- seqs
array(view_seq, seq)

-- sure
not many

-- over stored: a key by another name
op = 'VIEW_ENTRY' and whole and kind = 'kv' and misnamed_seq is not null

-- expected
'the name that an earlier event gives it'

-- observed
coalesce(value, 'an entry of another time')

-- seqs
array(misnamed_seq, seq)

-- sure
not many

-- over stored: a value that decides is not recorded
whole and (
  (op = 'STORE_OPEN' and (store_kind is null))
  or (op = 'VIEW_ENTRY' and seq = timeless_seq)
  or (kind = 'kv' and op = 'VIEW_ENTRY' and seq in (keyless_seq, causeless_seq, viewless_seq, nameless_seq))
  or (kind = 'kv' and op = 'VIEW' and seq in (causeless_seq, viewless_seq, nameless_seq))
  or (kind = 'kv' and op = 'PUT' and seq in (keyless_seq, causeless_seq))
)

-- expected
'the value, which decides the rule'

-- observed
concat('a ', op, ' without ', case op when 'STORE_OPEN' then case when store_kind is null then 'store_kind' end else unrecorded end)

-- sure
false
