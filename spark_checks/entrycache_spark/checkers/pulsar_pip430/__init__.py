"""The one fold over a broker's events in seq order: which rules its rows keep, by one pass of compiled loops."""
