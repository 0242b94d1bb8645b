"""The fold of `kafka-streams`: which sufficient_conditions hold, a file a family of them."""
