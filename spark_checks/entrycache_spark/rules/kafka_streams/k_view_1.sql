-- K-VIEW-1: a view answers each key once, in ascending order of bytes, or in descending order if it goes backward, and no
-- key whose last write before the view was a deletion. It may if the key was written since an open view was opened.

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
op = 'VIEW_ENTRY' and whole and kind = 'kv' and case when cause = 'BACKWARD' then rises else falls end

-- expected
concat('a key ', case when cause = 'BACKWARD' then 'below ' else 'above ' end, 'the one before')

-- observed
value

-- seqs
array(entry_seq, seq)

-- sure
not many
