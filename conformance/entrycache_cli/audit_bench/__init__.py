"""What audits cost: the measurements of `entrycache bench audit`, their profile, their page."""
