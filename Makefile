.DEFAULT_GOAL := help
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
ARGS ?=
TSX := node_modules/.bin/tsx
CLI := $(TSX) src/cli/main.ts
LAB := $(TSX) lab/main.ts

# $(call suite,LEVEL,WORDS OF VITEST): with EVIDENCE=1 the results go into docs/evidence.json, those that failed as well.
define suite
@mkdir -p .run; rm -f .run/$@.json
status=0; node_modules/.bin/vitest run $(2)$(if $(EVIDENCE), --reporter=default --reporter=json --outputFile.json=.run/$@.json) || status=$$?; \
$(if $(EVIDENCE),$(TSX) evidence/main.ts .run/$@.json --level $(1) --command 'make $@' || status=1;) exit $$status
endef

##@ Start

.PHONY: help
help: ## show this
	@awk -f test/house/help.awk $(MAKEFILE_LIST)

node_modules/.stamp: package.json package-lock.json .npmrc
# Not `npm ci`: it refuses a lock file without packages of other platforms, and some registries do not have them all.
	npm install --no-save
	@! git rev-parse --git-dir >/dev/null 2>&1 || git config core.hooksPath .githooks
	@touch $@

.PHONY: setup
setup: node_modules/.stamp ## install what the other targets need

.PHONY: cloud
cloud: setup ## an OpenStack cloud in this terminal, nothing else needed (ARGS=--once ends when Ready)
	@$(CLI) cloud $(ARGS)

##@ Check a change

.PHONY: test
test: setup ## all that must pass: types, lint, layers, dead code, generated files, tests (ARGS=--changed: what a change touches; ARGS=--coverage)
	@$(TSX) test/run.ts $(ARGS)

.PHONY: lint
lint: setup ## format, layers, dead code, and the figures of the house with their limits (ARGS=--strict: all must hold; ARGS=--all lists)
	@$(TSX) test/run.ts --lint $(ARGS)

.PHONY: format
format: setup ## let biome rewrite what it can
	node_modules/.bin/biome check --write .

.PHONY: build
build: setup ## dist/openstack-operator.js, one file; NOTICE and dist/sbom.cdx.json of what is in it
	node build.mjs

.PHONY: audit
audit: setup ## known vulnerabilities of the dependencies, where the registry answers
	@node release/audit.mjs

##@ Search for long

.PHONY: chaos
chaos: setup ## restart from every state of the store, every fault at every write, many seeds (long)
	CHAOS=all node_modules/.bin/vitest run test/chaos $(ARGS)

.PHONY: sequences
sequences: setup ## 2,000 random sequences of edits and deletions of two clouds on shared servers (long; ARGS="FIRST COUNT")
	test/chaos/sequences.sh $(ARGS)

.PHONY: fuzz-specs
fuzz-specs: setup ## 100,000 samples with one changed field on clouds that run: crashes, loops, messages without the field (ARGS="--first 1 --count 1000")
	$(TSX) test/fuzz/main.ts $(ARGS)

.PHONY: fuzz
fuzz: setup ## server-side apply against upstream's own code, 100,000 cases
	$(TSX) test/conformance/fuzz/main.ts --cases 100000 --seed 1 $(ARGS)

.PHONY: defects
defects: setup ## plant each known defect and see its test fail (long)
	$(TSX) test/defects/main.ts $(ARGS)

##@ Judge by real servers and libraries

.PHONY: conformance
conformance: setup ## the embedded API server against a real kube-apiserver (builds it once, about 8 minutes)
	$(TSX) test/conformance/main.ts $(ARGS)

.PHONY: test-real
test-real: setup ## tests against a real kube-apiserver, MariaDB, RabbitMQ, Keystone and oslo.config (builds and installs them once)
	$(call suite,api,--config vitest.real.config.ts --exclude 'test/options/**' $(ARGS))

.PHONY: test-options
test-options: setup ## every rendered option, read back by the services of each release (installs them from PyPI once)
	$(call suite,api,--config vitest.real.config.ts test/options $(ARGS))

.PHONY: test-alerts
test-alerts: setup ## alert rules and panels, judged by promtool (of Debian's package prometheus, fetched once)
	$(call suite,api,--config vitest.real.config.ts test/alerts $(ARGS))

.PHONY: test-page
test-page: setup ## the page in a real browser (installs Debian's chromium once)
	$(call suite,simulated,--config vitest.page.config.ts $(ARGS))

##@ Write what is generated

.PHONY: manifests
manifests: setup ## write CRDs, RBAC, the Deployment, the reference pages and what was seen to work (docs/status.md)
	$(TSX) config/generate.ts

.PHONY: overlay
overlay: setup ## an operator for some namespaces or kinds, for kustomize (ARGS="--namespaces a,b --kinds keystone --out folder")
	@$(TSX) config/overlay.ts $(ARGS)

.PHONY: oslo-tables
oslo-tables: setup ## write the option tables of lint from the services' packages (installs them from PyPI once; 3 minutes)
	$(TSX) lab/oslo/tables.ts $(ARGS)

.PHONY: golden
golden: setup ## write the clouds that a newer operator must take over without a change (after one that CHANGELOG.md announces)
	$(TSX) test/golden/write.ts

.PHONY: pictures
pictures: setup ## the pictures of the page in docs/images
	$(TSX) test/page/pictures.ts

.PHONY: bench
bench: setup build ## figures for docs/performance.md
	$(TSX) bench/main.ts $(ARGS)

.PHONY: sbom
sbom: build ## dist/sbom.cdx.json: the packages in the bundle, as CycloneDX 1.5

##@ Put it into the cluster of your kubeconfig

.PHONY: install
install: setup ## put the CRDs into the cluster of your kubeconfig
	kubectl apply --server-side -k config/crd

.PHONY: deploy
deploy: setup ## put CRDs, RBAC and the operator into the cluster of your kubeconfig
	kubectl apply --server-side -k config/default

.PHONY: run
run: setup ## the operator on the cluster of your kubeconfig
	$(CLI) run $(ARGS)

.PHONY: undeploy
undeploy: ## take the operator out; CRDs stay, and it is refused while objects of ours exist
	@config/objects-left.sh
	kubectl delete --ignore-not-found -f config/webhook/webhook.yaml
	kubectl delete -k config/manager
	kubectl delete -k config/rbac

.PHONY: uninstall
uninstall: ## take the CRDs out again; refused while objects of ours exist
	@config/objects-left.sh
	kubectl delete -k config/crd

##@ The lab: real Kubernetes and real OpenStack on this machine

.PHONY: lab lab-down lab-status lab-shell lab-logs lab-kubectl lab-openstack lab-cloud lab-cloud-ceph lab-cloud-ovs lab-test lab-test-ceph lab-test-ovs lab-test-nodes lab-test-living lab-slice lab-test-chores lab-test-outside lab-test-stores lab-test-two lab-test-shared lab-test-policies lab-test-upgrade lab-tempest lab-regression
lab: setup build ## real Kubernetes and real OpenStack on this machine (root, Debian 12)
	@$(LAB) up $(ARGS)
lab-down: setup ## stop it and leave nothing behind
	@$(LAB) down $(ARGS)
lab-status: setup ## what runs
	@$(LAB) status $(ARGS)
lab-shell: setup ## a shell inside the lab's network
	@$(LAB) shell $(ARGS)
lab-logs: setup ## logs of its components
	@$(LAB) logs $(ARGS)
lab-kubectl: setup ## kubectl in the lab (ARGS="get pods -A")
	@$(LAB) kubectl $(ARGS)
lab-openstack: setup ## the openstack client in the lab (ARGS="token issue")
	@$(LAB) openstack $(ARGS)
lab-cloud: lab ## a cloud that boots guests, on the lab, until it is Ready (LAB_RELEASES=2026.1 for another release)
	@$(LAB) cloud $(ARGS)
lab-cloud-ceph: lab ## the whole control plane on Ceph, published with TLS, on the lab, until it is Ready
	@$(LAB) cloud --file=lab/cloud-ceph.yaml $(ARGS)
lab-cloud-ovs: lab ## the first cloud with Neutron's agents instead of OVN, on the lab, until it is Ready
	@$(LAB) cloud --file=lab/cloud-ovs.yaml $(ARGS)
lab-test: setup ## its story on the lab: guests, floating IP, console, second cell, kills, deletion
	@$(LAB) test cloud $(ARGS)
lab-test-ceph: setup ## the story of lab/cloud-ceph.yaml: volumes, snapshots, backups, a stack, the dashboard, all over TLS
	@$(LAB) test ceph $(ARGS)
lab-test-ovs: setup ## the story of lab/cloud-ovs.yaml: guests whose networks are made by agents
	@$(LAB) test ovs $(ARGS)
lab-test-nodes: setup ## on an empty lab: a cloud whose namespace refuses pods of the node, which live in another one
	@$(LAB) test nodes $(ARGS)
lab-test-living: setup ## TLS on, renewed and off, every login replaced, on the lab's cloud: failed requests of a client
	@$(LAB) test living $(ARGS)
lab-test-outside: setup ## the cloud of lab-cloud-ceph under one host, and a hypervisor on a host outside the cluster
	@$(LAB) test outside $(ARGS)
lab-test-chores: setup ## on the cloud of lab-cloud-ceph: old rows removed, a service off and on, a cell in and out
	@$(LAB) test chores $(ARGS)
lab-test-stores: setup ## on the cloud of lab-cloud-ceph: images in three stores, one of them Swift's API, and backups there
	@$(LAB) test stores $(ARGS)
lab-test-two: setup ## a second cloud in another namespace beside the one that the lab has (LAB_RELEASES=2025.2,2026.1: of another release)
	@$(LAB) test two $(ARGS)
lab-test-shared: setup ## two clouds on one external MariaDB and one Ceph, on an empty lab: one is deleted, the other stays whole
	@$(LAB) test shared $(ARGS)
lab-test-policies: setup ## on an empty lab: the cloud of lab-cloud-ceph with NetworkPolicies that are enforced
	@$(LAB) test policies $(ARGS)
lab-test-upgrade: setup build ## on an empty lab: a cloud of an earlier operator (PREVIOUS=HEAD~1; UPGRADE_CLOUD=cloud-ceph.yaml for one with Ceph), then this one: no pod restarts
	@$(LAB) test upgrade $(ARGS)
lab-tempest: setup ## Tempest's smoke set on the cloud that the lab has: passed, failed, skipped
	@$(LAB) test tempest $(ARGS)
lab-slice: setup ## the story of the slice on the lab: rotation, profiles, rest, kills, deletion (REST=60 CYCLES=1)
	@$(LAB) test slice $(ARGS)
lab-regression: setup ## every scenario on the lab, unattended and resumable, results in docs/evidence.json (ARGS=--core: 75 minutes; ARGS=--help)
	@$(LAB) regression $(ARGS)
