"""Links to cards that speak DRTIO, the master's end."""
