"""`python -I -S FOLDER KIND SCRATCH`: be the subject that misbehaves in that way."""

from __future__ import annotations

from kinds import main

if __name__ == "__main__":
    main()
