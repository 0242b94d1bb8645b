-- K-WINDOW-2: a view answers each window or session once, and none whose last write before the view was a deletion. It may
-- if the window was written since an open view was opened.

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
