-- K-WINDOW-2: a view answers each window or session once, and none whose last write before the view was a deletion. It may
-- if the window was written since an open view was opened. Each lies in the range of the view, has the times of its PUT, and
-- is of the kind of its store.

-- checked
op = 'VIEW_ENTRY' and window_start is not null

-- over stored: a deleted window or session
op = 'VIEW_ENTRY' and whole and kind <> 'kv' and deleted

-- expected
'no entry: its last write was a deletion'

-- observed
concat('a VIEW_ENTRY of time ', cast(time as string))

-- seqs
array(put_seq, seq)

-- sure
not many

-- over stored: one once more
op = 'VIEW_ENTRY' and whole and kind <> 'kv' and first_shown < seq

-- expected
'each window or session once'

-- observed
concat('a VIEW_ENTRY of time ', cast(time as string), ' once more')

-- seqs
array(first_shown, seq)

-- sure
not many

-- over stored: an entry outside the range
op = 'VIEW_ENTRY' and whole and kind <> 'kv' and is_out_of_range

-- expected
'an entry of the range of the view'

-- observed
coalesce(value, 'an entry of another time')

-- seqs
array(view_seq, seq)

-- sure
not many

-- over stored: a window by another name
op = 'VIEW_ENTRY' and whole and kind <> 'kv' and misnamed_seq is not null

-- expected
'the name that an earlier event gives it'

-- observed
coalesce(value, 'an entry of another time')

-- seqs
array(misnamed_seq, seq)

-- sure
not many

-- over stored: a window or session in a store of another kind
op = 'VIEW_ENTRY' and whole and pass_id > opened_seq and coalesce(is_of_another_kind, false)

-- expected
concat('an entry of a ', kind, ' store')

-- observed
concat('a VIEW_ENTRY of time ', cast(time as string))

-- seqs
array(opened_seq, seq)

-- sure
not many

-- over stored: a value that decides is not recorded
whole and (
  (op = 'STORE_OPEN' and (store_kind is null))
  or (kind <> 'kv' and op = 'VIEW_ENTRY' and seq in (keyless_seq, viewless_seq, nameless_seq, timeless_seq))
  or (kind <> 'kv' and op = 'VIEW' and seq in (viewless_seq, nameless_seq))
  or (kind <> 'kv' and op = 'PUT' and seq in (keyless_seq, causeless_seq, timeless_seq))
)

-- expected
'the value, which decides the rule'

-- observed
concat('a ', op, ' without ', case op when 'STORE_OPEN' then case when store_kind is null then 'store_kind' end else unrecorded end)

-- sure
false
