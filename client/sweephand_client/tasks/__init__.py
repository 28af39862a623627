"""Tasks that take many calls: apply, export, import, crontab and tail."""
