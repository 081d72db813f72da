"""Work for other processes and machines: which runner spreads it, and how what it needs is made again there."""
