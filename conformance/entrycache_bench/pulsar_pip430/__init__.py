"""How quick the fast cache of `pulsar-pip430` is, and its cursors; the released container beside them."""
