"""The examples below the help of each command."""

from typing import Final

#: Each line is a command as a shell takes it. The help of a command has the lines that begin with its name.
EXAMPLES: Final = r"""
sweephand dev --open
sweephand dev --port 4790 --store jobs.db
sweephand docs
sweephand deploy --region eu-west-1 --parameter Stats=on
sweephand destroy --stack-name sweephand-test
sweephand status --watch
sweephand changes --since 7d
sweephand tail nightly --until 1
sweephand overview --since 2h
sweephand forecast --from 'tomorrow 00:00' --bucket 6h
sweephand stats --from 2h --step 10m
sweephand zones --days 30
sweephand why nightly --at 02:30
sweephand apply --file jobs.yaml --dry-run
sweephand apply --file jobs.yaml --prune --reason 'The new week.'
sweephand schema > jobs.schema.json
sweephand rehearse jobs.yaml --weeks 8 --consumer p50=0.2s,p99=3s,fail=1%
sweephand check jobs.yaml
sweephand crontab crontab --timezone Europe/Paris --url https://example.com/run > jobs.yaml
sweephand worker --commands commands.yaml --listen 127.0.0.1:8090
sweephand export --file demo.jsonl
sweephand import file demo.jsonl --namespace copy
sweephand import eventbridge --region eu-west-1 --to jobs
sweephand rebuild --since 10m
sweephand audit --dry-run
sweephand job schedule nightly -s '30 2 * * MON-FRI' -z Europe/Paris --url https://example.com/backup
sweephand job schedule reminder --due 'tomorrow 09:00' --url https://example.com/mail --data '{"to": 7}'
sweephand job patch nightly --jitter 30s --without description
sweephand job patch --where campaign=spring --due '2027-04-02 09:00'
sweephand job get nightly
sweephand job list --health failing -A
sweephand job list --label team=ops -o name
sweephand job delete --prefix old-
sweephand job pause nightly --reason 'The database moves.'
sweephand job pause --label team=ops --until 'tomorrow 08:00'
sweephand job resume --label team=ops --catchup none
sweephand job trigger nightly --data '{"task": "now"}'
sweephand job backfill nightly --from yesterday --to today
sweephand job next nightly --limit 3
sweephand job runs nightly --state failed
sweephand job changes nightly
sweephand run list --state failed --since 1h --reason timeout
sweephand run show nightly 1795262400000-0
sweephand run redrive nightly 1795262400000-0
sweephand run redrive --since 1h --reason 503
sweephand run cancel --label team=ops --state retrying
sweephand batch list mails
sweephand batch show mails --due 02:00 --watch
sweephand schedule explain '30 2 * * *' --timezone Europe/Paris --after 2027-03-27
sweephand calendar put shop --weekend SUN --holidays FR:57 --dry-run
sweephand calendar get shop
sweephand calendar list
sweephand calendar days shop --from 2027-05-01 --days 31
sweephand calendar delete shop
sweephand policy put mailer --max-concurrent 5 --rate 100/1m
sweephand policy get mailer
sweephand policy list --use
sweephand policy keys mailer
sweephand policy pause mailer --reason 'The mail server moves.'
sweephand policy resume mailer
sweephand policy delete mailer
sweephand policy changes mailer
sweephand window put night --schedule '0 1 * * *' --timezone Europe/Paris --duration 2h
sweephand window get night
sweephand window list
sweephand window delete night
sweephand namespace list
sweephand namespace show
sweephand namespace set '{"limits": {"jobs": 1000}}'
sweephand key make --role write --expires-in 90d --description 'the deploy pipeline'
sweephand key list
sweephand key rotate k1 --overlap 1h
sweephand key revoke k1
sweephand secret put partner-token < token.txt
sweephand secret list
sweephand secret delete partner-token
sweephand secret signing --rotate --end-old
sweephand profile add work --url https://api.example.com --default-namespace demo
sweephand profile list
sweephand profile remove work
"""


def examples_of(name: str) -> list[str]:
    """The examples of the command with this name, as `job list`."""
    return [each for each in EXAMPLES.splitlines() if f"{each} ".startswith(f"sweephand {name} ")]


def epilog(name: str) -> str:
    """What stands below the help of a command. An empty line begins a new one."""
    return "\n\n".join(["Examples:", *examples_of(name)])
