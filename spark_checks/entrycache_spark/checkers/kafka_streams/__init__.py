"""The fold of `kafka-streams`: which grounds hold, a file a family of them."""
