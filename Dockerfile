# The operator is one file and needs Node only. Build with: make build && docker build -t openstack-operator .
FROM node:24-slim
COPY dist/openstack-operator.js /openstack-operator.js
USER 65532
# Small heaps: the defaults of Node 24 take three times the memory for the same work (docs/performance.md).
ENTRYPOINT ["node", "--max-old-space-size=160", "--max-semi-space-size=1", "--v8-pool-size=1", "--optimize-for-size", "/openstack-operator.js"]
CMD ["run", "--leader-elect"]
