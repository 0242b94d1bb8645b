-- K-PUT-4: a clean write never replaces a dirty entry.

-- checked
op = 'PUT' and not coalesce(dirty, false)

-- needs
dirty of PUT

-- over streamed
op = 'PUT' and not dirty and whole and dirty_by_writes and dirty_shown

-- expected
concat('no clean PUT over the dirty life ', cast(life_by_writes as string))

-- observed
'a clean PUT'

-- seqs
array(put_seq, seq)

-- sure
not many
