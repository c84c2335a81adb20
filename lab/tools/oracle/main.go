// oracle answers server-side apply requests with upstream's own field manager, one JSON line each,
// so that our small implementation can be compared with it by the hundred thousand.
package main

import (
	"fmt"

	_ "k8s.io/apimachinery/pkg/util/managedfields"
	_ "k8s.io/client-go/applyconfigurations"
	_ "k8s.io/client-go/kubernetes/scheme"
	_ "k8s.io/kube-openapi/pkg/validation/spec"
	_ "sigs.k8s.io/structured-merge-diff/v6/typed"
)

func main() { fmt.Println("not yet") }
