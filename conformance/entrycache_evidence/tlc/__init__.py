"""The second model: TLA+ modules written from the rules' texts, run by TLC, and held beside the explorer."""
