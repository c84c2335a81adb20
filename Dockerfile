# The operator is one file and needs Node only. Build with: make build && docker build -t openstack-operator .
# A base that cannot change: docker build --build-arg BASE=node:24-slim@sha256:... -t openstack-operator .
ARG BASE=node:24-slim
FROM ${BASE}
COPY LICENSE NOTICE /
COPY dist/openstack-operator.js /openstack-operator.js
USER 65532
# Small heaps: the defaults of Node 24 take three times the memory for the same work (docs/performance.md).
ENTRYPOINT ["node", "--max-old-space-size=160", "--max-semi-space-size=1", "--v8-pool-size=1", "--optimize-for-size", "/openstack-operator.js"]
CMD ["run", "--leader-elect"]
