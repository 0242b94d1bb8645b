-- L-STATE-2: time never goes back; `ts_ns` never falls with `seq`, across gaps too.

-- as R-STATE-6 of pulsar-pip430
