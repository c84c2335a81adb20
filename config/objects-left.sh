#!/usr/bin/env bash
# Ends with 1, and a list, while objects of ours exist: without the operator nobody could delete them any more.
# A kubectl that fails proves nothing about objects: it ends this script with its exit code.
set -euo pipefail
crds=$(kubectl get customresourcedefinitions -o name)
kinds=
for crd in $crds; do
  crd=${crd##*/}
  case ${crd#*.} in
    openstack.k8s.io | nova.openstack.org | neutron.openstack.org | dataplane.openstack.org | ansibleee.openstack.org) kinds="$kinds,$crd" ;;
  esac
done
[ -n "$kinds" ] || exit 0
columns=KIND:.kind,NAMESPACE:.metadata.namespace,NAME:.metadata.name
left=$(kubectl get "${kinds#,}" --all-namespaces --no-headers -o custom-columns="$columns")
[ -n "$left" ] || exit 0
printf 'These objects exist, and need the operator and its CRDs to be deleted. Delete them first:\n%s\n' "$left" >&2
exit 1
