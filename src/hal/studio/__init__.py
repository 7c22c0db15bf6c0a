"""The page in the browser: see what an agent believes, ask why, interfere, compare, share.

What is open lives here (`desk.py`); `app.py` serves it behind `guard.py`, the page is in `page/`.
It reads runs, plays their agents by `runs` and `viewer`, and averages curves by `experiments`. The
command `hal studio` starts it.
"""
