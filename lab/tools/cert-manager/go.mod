module openstack-operator/lab/tools/cert-manager

go 1.26.6

require (
	github.com/cert-manager/cert-manager v1.21.2
	golang.org/x/sync v0.18.0
)
