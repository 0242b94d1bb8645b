-- L-STATE-4: only the events of an entry change it: a life keeps its position and size, snapshots show each entry once
-- and the last one shows all of them, and END shows how many there are.

-- needs
entry_id of INSERT
clean life or value.entries=0 of SNAPSHOT END, END
clean value.entries of END

-- as R-STATE-2 of pulsar-pip430
