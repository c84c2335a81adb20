// envtest is etcd, kube-apiserver and kubectl in one file: what `make conformance` needs.
// The name it is called by, or else its first argument, picks the program.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
	_ "k8s.io/client-go/plugin/pkg/client/auth"
	"k8s.io/component-base/cli"
	"k8s.io/component-base/logs"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	kubectlutil "k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"

	"openstack-operator/lab/tools/multicall"
)

func main() {
	multicall.Run(multicall.Programs{
		"etcd":           func() { etcdmain.Main(os.Args) },
		"kube-apiserver": func() { os.Exit(cli.Run(apiserver.NewAPIServerCommand())) },
		"kubectl": func() {
			logs.GlogSetter(kubectl.GetLogVerbosity(os.Args))
			if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
				kubectlutil.CheckErr(err)
			}
		},
	})
}
