-- K-SIZE-1: an entry keeps the size of its PUT as long as it lives. (A row is wrong if it agrees neither with the PUT
-- nor with the row before. The trace shows no keys and values, so the size itself is not checked.)

-- checked
op in ('HIT', 'EVICT', 'DELETE', 'REMOVE', 'FLUSH') and life is not null

-- needs
size_bytes of PUT

-- over streamed
op in ('HIT', 'EVICT', 'DELETE', 'REMOVE', 'FLUSH', 'FAILED') and whole and life = put_seq
and size_bytes <> put_size and size_bytes <> size_shown

-- expected
concat('size_bytes ', cast(put_size as string))

-- observed
concat('size_bytes ', cast(size_bytes as string))

-- seqs
array(put_seq, seq)

-- sure
not many
