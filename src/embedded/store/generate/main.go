// generate writes ../types.json: what Go's JSON decoder and the API conventions know about the built-in kinds that the
// Store serves. Field names, types, omitempty, patch strategies and list types cannot be guessed, so they are read from
// upstream's own structs. Run in lab/tools: go run ../../src/embedded/store/generate/main.go > ../../src/embedded/store/types.json
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"sort"
	"strings"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kubernetes/pkg/generated/openapi"
)

var kinds = strings.Fields(`
v1/Namespace v1/Node v1/Pod v1/Secret v1/ConfigMap v1/Service v1/ServiceAccount v1/PersistentVolumeClaim v1/PersistentVolume v1/Event v1/Endpoints v1/ReplicationController v1/LimitRange v1/ResourceQuota
apps/v1/Deployment apps/v1/ReplicaSet apps/v1/StatefulSet apps/v1/DaemonSet apps/v1/ControllerRevision batch/v1/Job batch/v1/CronJob
policy/v1/PodDisruptionBudget storage.k8s.io/v1/StorageClass coordination.k8s.io/v1/Lease events.k8s.io/v1/Event discovery.k8s.io/v1/EndpointSlice
networking.k8s.io/v1/Ingress networking.k8s.io/v1/IngressClass networking.k8s.io/v1/NetworkPolicy scheduling.k8s.io/v1/PriorityClass
rbac.authorization.k8s.io/v1/Role rbac.authorization.k8s.io/v1/RoleBinding rbac.authorization.k8s.io/v1/ClusterRole rbac.authorization.k8s.io/v1/ClusterRoleBinding
apiextensions.k8s.io/v1/CustomResourceDefinition autoscaling/v1/Scale autoscaling/v2/HorizontalPodAutoscaler
admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy admissionregistration.k8s.io/v1/ValidatingAdmissionPolicyBinding
admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration admissionregistration.k8s.io/v1/MutatingWebhookConfiguration
authentication.k8s.io/v1/SelfSubjectReview authorization.k8s.io/v1/SelfSubjectAccessReview`)

// Types that encode themselves: their JSON shape is not their Go shape.
var opaque = map[string]string{
	"k8s.io/apimachinery/pkg/apis/meta/v1.Time": "Time", "k8s.io/apimachinery/pkg/apis/meta/v1.MicroTime": "MicroTime",
	"k8s.io/apimachinery/pkg/api/resource.Quantity": "Quantity", "k8s.io/apimachinery/pkg/util/intstr.IntOrString": "IntOrString",
	"k8s.io/apimachinery/pkg/runtime.RawExtension": "Raw", "k8s.io/apimachinery/pkg/apis/meta/v1.FieldsV1": "Raw",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSON": "Raw", "k8s.io/apimachinery/pkg/apis/meta/v1.Duration": "string",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrArray": "Raw", "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrBool": "Raw",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrStringArray": "Raw", "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaProps": "Raw",
}

var types = map[string]map[string]string{}
var docs = map[string]common.OpenAPIDefinition{}
var atomic = map[string]bool{}

func main() {
	must(apiextensions.AddToScheme(scheme.Scheme))
	docs = openapi.GetOpenAPIDefinitions(func(path string) spec.Ref { return spec.MustCreateRef("#/" + path) })
	roots := map[string]string{}
	for _, kind := range kinds {
		parts := strings.Split(kind, "/")
		gvk := schema.GroupVersionKind{Version: parts[len(parts)-2], Kind: parts[len(parts)-1]}
		if len(parts) == 3 {
			gvk.Group = parts[0]
		}
		object, err := scheme.Scheme.New(gvk)
		must(err)
		roots[kind] = walk(reflect.TypeOf(object).Elem())
	}
	names := []string{}
	for name := range types {
		names = append(names, name)
	}
	sort.Strings(names)
	out := &strings.Builder{}
	head, _ := json.Marshal(roots)
	list := []string{}
	for name := range atomic {
		list = append(list, name)
	}
	sort.Strings(list)
	maps, _ := json.Marshal(list)
	fmt.Fprintf(out, "{\"kinds\":%s,\n\"atomicTypes\":%s,\n\"types\":{", head, maps)
	for i, name := range names {
		line, _ := json.Marshal(types[name])
		if i > 0 {
			out.WriteString(",")
		}
		fmt.Fprintf(out, "\n%q:%s", name, line)
	}
	out.WriteString("\n}}\n")
	_, err := os.Stdout.WriteString(out.String())
	must(err)
}

func nameOf(t reflect.Type) string {
	path := strings.TrimPrefix(t.PkgPath(), "k8s.io/api/")
	path = strings.TrimPrefix(path, "k8s.io/apimachinery/pkg/apis/")
	path = strings.TrimPrefix(path, "k8s.io/apiextensions-apiserver/pkg/apis/")
	return path + "." + t.Name()
}

func walk(t reflect.Type) string {
	name := nameOf(t)
	if _, done := types[name]; done {
		return name
	}
	fields := map[string]string{}
	types[name] = fields
	add(t, fields, properties(t))
	return name
}

func properties(t reflect.Type) spec.SchemaProps {
	// The key of a definition is what OpenAPIModelName says, or else the path of the type.
	if named, ok := reflect.New(t).Interface().(interface{ OpenAPIModelName() string }); ok {
		if doc, ok := docs[named.OpenAPIModelName()]; ok {
			mark(t, doc)
			return doc.Schema.SchemaProps
		}
	}
	doc := docs[t.PkgPath()+"."+t.Name()]
	mark(t, doc)
	return doc.Schema.SchemaProps
}

func mark(t reflect.Type, doc common.OpenAPIDefinition) {
	if kind, _ := doc.Schema.Extensions.GetString("x-kubernetes-map-type"); kind == "atomic" {
		atomic[nameOf(t)] = true
	}
}

func add(t reflect.Type, fields map[string]string, doc spec.SchemaProps) {
	for i := 0; i < t.NumField(); i++ {
		f := t.Field(i)
		tag := strings.Split(f.Tag.Get("json"), ",")
		if f.Anonymous && tag[0] == "" {
			add(f.Type, fields, doc)
			continue
		}
		if tag[0] == "-" || tag[0] == "" {
			continue
		}
		text := typeOf(f.Type)
		switch {
		case contains(tag, "omitzero"):
			text += " omitzero"
		case !contains(tag, "omitempty"):
			text += " keep"
		}
		schema := doc.Properties[tag[0]]
		if kind, ok := schema.Extensions.GetString("x-kubernetes-list-type"); ok && kind != "atomic" {
			text += " " + kind
			if keys, ok := schema.Extensions.GetStringSlice("x-kubernetes-list-map-keys"); ok {
				text += "=" + strings.Join(keys, ",")
			}
		}
		if kind, ok := schema.Extensions.GetString("x-kubernetes-map-type"); ok && kind == "atomic" {
			text += " atomic"
		}
		if strategy := f.Tag.Get("patchStrategy"); strategy != "" {
			text += " patch=" + strategy
			if key := f.Tag.Get("patchMergeKey"); key != "" {
				text += ":" + key
			}
		}
		fields[tag[0]] = text
	}
}

func typeOf(t reflect.Type) string {
	if name, ok := opaque[t.PkgPath()+"."+t.Name()]; ok {
		return name
	}
	switch t.Kind() {
	case reflect.Pointer:
		return "*" + typeOf(t.Elem())
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "bytes"
		}
		return "[]" + typeOf(t.Elem())
	case reflect.Map:
		return "{}" + typeOf(t.Elem())
	case reflect.Struct:
		return walk(t)
	default:
		return t.Kind().String()
	}
}

func contains(list []string, word string) bool {
	for _, entry := range list[1:] {
		if entry == word {
			return true
		}
	}
	return false
}

var _ runtime.Object

func must(err error) {
	if err != nil {
		panic(err)
	}
}
