-- K-PUT-4: a clean write never replaces what is dirty.

-- checked
op = 'PUT' and not coalesce(dirty, false)

-- needs
dirty of PUT

-- sufficient
keys_hold

-- over streamed
op = 'PUT' and not dirty and whole and dirty_told and dirty_shown

-- expected
concat('no clean PUT over the dirty life ', cast(life_told as string))

-- observed
'a clean PUT'

-- seqs
array(put_seq, seq)

-- sure
not many
