"""The second model: TLA+ modules written from the texts of the rules, compared with our model checker by TLC."""
