# The commands of a developer. Each target installs what it needs the first time. `make` alone lists them.
PYTHON ?= python3
PORT ?= 4700
VENVS := .local/venvs
UV := $(VENVS)/uv/.locked
SAM := $(VENVS)/sam/.locked
STACK := .venv/.locked $(VENVS)/ministack/.locked
SITE := .venv/.locked $(VENVS)/docs/.locked .local/docs/.fetched
# Where npm is, the tests compile the generated client in TypeScript.
NPM := $(if $(shell command -v npm),$(VENVS)/npm/.locked)
FOREIGN := .local/moto-tests/.fetched .local/ministack-tests/.fetched
TESTS := $(STACK) $(SAM) $(addprefix $(VENVS)/,schemathesis/.locked sbom/.locked generators/.locked) $(NPM) $(FOREIGN)
SOURCES := layers/sweephand/python/sweephand client/sweephand_client client/sweephand_deploy client/sweephand_engine functions infra tests
IN_VENV := .venv/bin
RUN := PYTHONPATH=layers/sweephand/python:client $(IN_VENV)/python -m
# The first seed of each kind of world, and the kinds of worlds with one policy.
WORLDS := 0 3000000 3100000 3150000 3200000 3270000 3300000 3400000 3500000 3600000 3700000 3800000 3900000 4000000 4050000 4100000 4200000 5000000 6000000 7000000 7500000 10000000 10500000
FLOW_WORLDS := usual agree rates few calm pauses calm-pauses keys calm-keys outages calm-outages
# The parts of `make verify`.
PROOFS := $(addprefix verify-,worlds flow orders faults sampled models)

.DEFAULT_GOAL := help
.PHONY: help setup dev up down test sim verify $(PROOFS) upgrade bench shootout bill capacity docs smoke smoke-aws size dist check lint types imports template format client-types lock sbom clean

help: ## list the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: $(TESTS) $(SITE) $(VENVS)/microburst/.locked ## install everything now; the other targets install what they need by themselves

dev: .venv/.locked ## run Sweephand in one process, without AWS: API, console, deliveries and an inbox for them
	@$(RUN) sweephand_client.commands.main dev $(if $(findstring command line,$(origin PORT)),--port $(PORT)) $(ARGS)

up: $(STACK) ## start Sweephand here in the background, and say how to reach it
	@$(RUN) infra.local up --port $(PORT)

down: .venv/.locked ## end what `make up` started
	@$(RUN) infra.local down --port $(PORT)

test: $(TESTS) ## run all tests in five processes: two begin with those on deployed local stacks
	$(IN_VENV)/python -m pytest --numprocesses=5 --dist=loadgroup --durations=25

sim: .venv/.locked ## simulate SEEDS=1000 worlds with faults, from FIRST=0 on; or print the story of one, SEED=7
	@$(RUN) tests.simulation --seeds $(or $(SEEDS),1000) $(addprefix --first ,$(FIRST)) $(addprefix --seed ,$(SEED))

# A world that is off for thirty days takes 6 s, and another one 0.3 s: a twentieth of the seeds. One with keys
# takes 10 s, and another one with a policy 1 s: a fifth of the seeds. Other commits have other seeds.
OFFSET = $(or $(shell echo $$(($$(git rev-list --count HEAD) % 100 * 100))),0)
verify: $(TESTS) $(VENVS)/microburst/.locked ## the long proofs, each also after one that fails: SEEDS=100 of each kind of world, FLOW_SEEDS=50 with one policy, faults on a local stack, and all that .ci/run samples
	@$(MAKE) --no-print-directory --jobs=1 --keep-going $(PROOFS)

verify-worlds:
	@bad=; for first in $(WORLDS); do \
	    seeds=$(or $(SEEDS),100); [ $$first = 10500000 ] && seeds=$$((seeds / 20)); \
	    $(MAKE) --no-print-directory sim FIRST=$$((first + $(OFFSET))) SEEDS=$$seeds || bad=1; done; [ -z "$$bad" ]

verify-flow:
	@bad=; for kind in $(FLOW_WORLDS); do \
	    seeds=$(or $(FLOW_SEEDS),50); case $$kind in *keys) seeds=$$((seeds / 5));; esac; \
	    $(RUN) tests.simulation.flow --kind $$kind --first $(OFFSET) --seeds $$seeds || bad=1; done; [ -z "$$bad" ]

verify-orders:
	@$(RUN) tests.orders --crashes 2

verify-faults:
	@$(RUN) infra.faults

verify-sampled:
	SWEEPHAND_WHOLE=1 $(IN_VENV)/python -m pytest -m sampled --numprocesses=2 --dist=loadgroup --ignore=tests/models

verify-models:
	SWEEPHAND_WHOLE=1 $(IN_VENV)/python -m pytest tests/models --numprocesses=2 --dist=worksteal

upgrade: $(STACK) ## deploy the newest release and this checkout in turn onto a local stack under load; ARGS=--help
	@$(RUN) infra.upgrade $(ARGS)

bench: $(STACK) ## measure lateness, cost, flow, deliveries and start
	@$(RUN) infra.bench

shootout: $(STACK) ## measure Sweephand beside other schedulers, for hours; ARGS=--help
	@$(RUN) infra.shootout $(ARGS)

bill: .venv/.locked ## write docs/cost.md and docs/capacity.md; MEASURE=1 measures again first, for half an hour
	@$(RUN) infra.calculator $(if $(MEASURE),--measure)

capacity: bill ## the same: both pages come from one calculator

docs: $(SITE) ## build the site of the documentation, which `sweephand docs` opens
	@$(RUN) infra.site

smoke: $(STACK) ## run every check on a local stack that it starts and ends
	@$(RUN) infra.smoke --local $(ARGS)

smoke-aws: .venv/.locked ## the same in your AWS account, on a stack of its own, for about $$0.03; ARGS=--help
	@$(RUN) infra.smoke $(ARGS)

size: .venv/.locked ## count lines of code, modules and words, each beside its ceiling
	@$(IN_VENV)/python -m infra.size

dist: .venv/.locked $(VENVS)/sbom/.locked ## write dist/: wheel, source distribution, stack, bill of materials and hashes of one version
	@$(RUN) infra.dist

check: lint types imports template ## all checks that run no code: lint, types, imports, template

lint: .venv/.locked ## style, and what is known to be insecure
	$(IN_VENV)/ruff check && $(IN_VENV)/ruff format --check

types: .venv/.locked ## types
	$(IN_VENV)/mypy $(SOURCES)

imports: .venv/.locked ## which room may import which
	PYTHONPATH=layers/sweephand/python:client $(IN_VENV)/lint-imports --no-logo

template: .venv/.locked $(SAM) ## the template, by SAM and cfn-lint
	SAM_CLI_TELEMETRY=0 AWS_DEFAULT_REGION=us-east-1 $(VENVS)/sam/bin/sam validate --lint

format: .venv/.locked ## format the source
	$(IN_VENV)/ruff check --fix-only && $(IN_VENV)/ruff format

client-types: .venv/.locked ## write the client's types and operations anew, from the OpenAPI document
	@$(RUN) infra.client_types

lock: .venv/.locked ## choose the newest versions that pyproject.toml allows, and lock them
	requirements/lock.sh $(IN_VENV)/uv

sbom: $(VENVS)/sbom/.locked ## write build/sbom.json: which packages go to Lambda, with versions and hashes
	@requirements/sbom.sh $(VENVS)/sbom/bin/cyclonedx-py build/sbom.json

clean: down ## remove all that these commands have made here
	rm -rf .venv .local .aws-sam build dist

# One environment for each lock, made anew when its lock changes. uv, which is in the lock of .venv, comes first.
.venv/.locked: requirements/dev.txt | $(UV)
	@requirements/install.sh $(PYTHON) $(@D) $<

.local/uv.txt: requirements/dev.txt
	@mkdir -p $(@D)
	@sed -n '/^uv==/,/[^\]$$/p' $< >$@

$(UV): .local/uv.txt
	@requirements/install.sh $(PYTHON) $(@D) $<

$(VENVS)/npm/.locked: requirements/npm/package-lock.json
	@requirements/npm.sh $(@D) $<

$(VENVS)/%/.locked: requirements/%.txt | $(UV)
	@requirements/install.sh $(PYTHON) $(@D) $<

# The tests that moto and ministack have of EventBridge Scheduler.
.local/moto-tests/.fetched: requirements/dev.txt .venv/.locked
	@requirements/foreign-tests.sh $(@D) $< moto 'tests/test_scheduler/*'

.local/ministack-tests/.fetched: requirements/ministack.txt .venv/.locked
	@requirements/foreign-tests.sh $(@D) $< ministack tests/test_scheduler.py

# What the site takes from npm.
.local/docs/.fetched: requirements/docs.json
	@requirements/browser.sh $< >/dev/null && touch $@
