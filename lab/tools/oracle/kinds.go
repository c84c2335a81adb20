package main

import (
	"encoding/json"
	"fmt"
	"io"
	"sort"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	crdopenapi "k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/endpoints/openapi"
	utilopenapi "k8s.io/apiserver/pkg/util/openapi"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/kube-openapi/pkg/builder3"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/schemaconv"
	openapiutil "k8s.io/kube-openapi/pkg/util"
	"k8s.io/kube-openapi/pkg/validation/spec"
	generatedopenapi "k8s.io/kubernetes/pkg/generated/openapi"
	kjson "sigs.k8s.io/json"
	smdschema "sigs.k8s.io/structured-merge-diff/v6/schema"
)

// builtins are the kinds the embedded world knows.
var builtins = []string{
	"v1/Pod", "v1/Secret", "v1/ConfigMap", "v1/Service", "v1/ServiceAccount", "v1/PersistentVolumeClaim", "v1/PersistentVolume",
	"v1/Namespace", "v1/Node", "v1/Event", "v1/Endpoints", "events.k8s.io/v1/Event",
	"apps/v1/Deployment", "apps/v1/ReplicaSet", "apps/v1/StatefulSet", "apps/v1/DaemonSet", "apps/v1/ControllerRevision",
	"batch/v1/Job", "batch/v1/CronJob", "policy/v1/PodDisruptionBudget", "coordination.k8s.io/v1/Lease",
	"storage.k8s.io/v1/StorageClass", "networking.k8s.io/v1/Ingress", "networking.k8s.io/v1/IngressClass", "networking.k8s.io/v1/NetworkPolicy",
	"rbac.authorization.k8s.io/v1/Role", "rbac.authorization.k8s.io/v1/RoleBinding",
	"rbac.authorization.k8s.io/v1/ClusterRole", "rbac.authorization.k8s.io/v1/ClusterRoleBinding",
	"apiextensions.k8s.io/v1/CustomResourceDefinition", "discovery.k8s.io/v1/EndpointSlice",
	"admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy", "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicyBinding",
	"scheduling.k8s.io/v1/PriorityClass", "v1/LimitRange", "v1/ReplicationController", "v1/ResourceQuota",
	"admissionregistration.k8s.io/v1/MutatingWebhookConfiguration", "admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration",
	"autoscaling/v1/Scale", "autoscaling/v2/HorizontalPodAutoscaler",
}

func parseKind(name string) schema.GroupVersionKind {
	slash := strings.LastIndex(name, "/")
	gv, err := schema.ParseGroupVersion(name[:slash])
	if err != nil {
		panic(err)
	}
	return gv.WithKind(name[slash+1:])
}

func scheme() *runtime.Scheme {
	s := runtime.NewScheme()
	if err := clientscheme.AddToScheme(s); err != nil {
		panic(err)
	}
	if err := apiextensionsv1.AddToScheme(s); err != nil {
		panic(err)
	}
	return s
}

// builtinModels builds the OpenAPI models as kube-apiserver does for its own type converter.
func builtinModels(s *runtime.Scheme) (map[string]*spec.Schema, error) {
	namer := openapi.NewDefinitionNamer(s)
	definitions := utilopenapi.GetOpenAPIDefinitionsWithoutDisabledFeatures(generatedopenapi.GetOpenAPIDefinitions)
	config := &common.OpenAPIV3Config{
		Info:              &spec.Info{},
		GetDefinitionName: namer.GetDefinitionName,
		GetDefinitions:    definitions,
	}
	config.Definitions = definitions(func(name string) spec.Ref {
		defName, _ := namer.GetDefinitionName(name)
		return spec.MustCreateRef("#/components/schemas/" + common.EscapeJsonPointer(defName))
	})
	names := []string{}
	for _, b := range builtins {
		object, err := s.New(parseKind(b))
		if err != nil {
			return nil, err
		}
		names = append(names, openapiutil.GetCanonicalTypeName(object))
	}
	return builder3.BuildOpenAPIDefinitionsForResources(config, names...)
}

func zeroOf(s *runtime.Scheme, gvk schema.GroupVersionKind) (map[string]interface{}, error) {
	object, err := s.New(gvk)
	if err != nil {
		return nil, err
	}
	object.GetObjectKind().SetGroupVersionKind(gvk)
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	zero := map[string]interface{}{}
	return zero, kjson.UnmarshalCaseSensitivePreserveInts(text, &zero)
}

func builtinKinds() (map[string]*kind, error) {
	s := scheme()
	models, err := builtinModels(s)
	if err != nil {
		return nil, err
	}
	converter, err := managedfields.NewTypeConverter(models, false)
	if err != nil {
		return nil, err
	}
	kinds := map[string]*kind{}
	for _, b := range builtins {
		gvk := parseKind(b)
		zero, err := zeroOf(s, gvk)
		if err != nil {
			return nil, err
		}
		kinds[b] = &kind{gvk: gvk, converter: converter, zero: zero, managers: map[string]*managedfields.FieldManager{}}
	}
	return kinds, nil
}

// customKind builds a type converter from a CRD as the apiextensions server does.
func customKind(name string, openAPIV3Schema json.RawMessage) (*kind, error) {
	gvk := parseKind(name)
	props := &apiextensionsv1.JSONSchemaProps{}
	if err := json.Unmarshal(openAPIV3Schema, props); err != nil {
		return nil, err
	}
	plural := strings.ToLower(gvk.Kind) + "s"
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.Name = plural + "." + gvk.Group
	crd.Spec = apiextensionsv1.CustomResourceDefinitionSpec{
		Group: gvk.Group,
		Scope: apiextensionsv1.NamespaceScoped,
		Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: gvk.Kind, ListKind: gvk.Kind + "List", Plural: plural, Singular: strings.ToLower(gvk.Kind)},
		Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
			Name: gvk.Version, Served: true, Storage: true,
			Schema:       &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: props},
			Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
		}},
	}
	built, err := crdopenapi.BuildOpenAPIV3(crd, gvk.Version, crdopenapi.Options{})
	if err != nil {
		return nil, err
	}
	converter, err := managedfields.NewTypeConverter(built.Components.Schemas, false)
	if err != nil {
		return nil, err
	}
	zero := map[string]interface{}{"apiVersion": gvk.GroupVersion().String(), "kind": gvk.Kind}
	return &kind{gvk: gvk, converter: converter, zero: zero, custom: true, managers: map[string]*managedfields.FieldManager{}}, nil
}

// dump writes, for every built-in kind, the type it has and what an empty Go struct of it encodes to, and the types
// behind them. A type reference is "s", "n", "b", "u" (scalars), "A" (untyped, atomic), "D" (untyped, deduced),
// the name of a shared type, or a type:
//
//	{u?: 1, l?: {i: ref, k?: keys, s?: 1 (set)}, m?: {f?: fields, r?: ref of other fields, a?: 1 (atomic)}}
//
// A list without k and s is atomic. A field is a reference, or [reference, default] where the default completes a list key.
func dump(w io.Writer) error {
	s := scheme()
	models, err := builtinModels(s)
	if err != nil {
		return err
	}
	smd, err := schemaconv.ToSchemaFromOpenAPI(models, false)
	if err != nil {
		return err
	}
	d := &dumper{schema: smd, keys: map[string]bool{}, types: map[string]interface{}{}}
	for _, t := range smd.Types {
		d.findKeys(t.Atom)
	}
	kinds := map[string]interface{}{}
	for _, b := range builtins {
		gvk := parseKind(b)
		name := ""
		for model, m := range models {
			gvks, _ := m.Extensions["x-kubernetes-group-version-kind"].([]interface{})
			for _, g := range gvks {
				v, _ := g.(map[string]interface{})
				if v["group"] == gvk.Group && v["version"] == gvk.Version && v["kind"] == gvk.Kind {
					name = model
				}
			}
		}
		if name == "" {
			return fmt.Errorf("no model for %v", gvk)
		}
		zero, err := zeroOf(s, gvk)
		if err != nil {
			return err
		}
		delete(zero, "apiVersion")
		delete(zero, "kind")
		kinds[b] = []interface{}{d.named(name), zero}
	}
	names := make([]string, 0, len(d.types))
	for name := range d.types {
		names = append(names, name)
	}
	sort.Strings(names)
	// One type per line keeps differences between Kubernetes releases readable.
	fmt.Fprint(w, "{\"kinds\":{\n")
	for i, b := range builtins {
		line(w, b, kinds[b], i == len(builtins)-1)
	}
	fmt.Fprint(w, "},\"types\":{\n")
	for i, name := range names {
		line(w, name, d.types[name], i == len(names)-1)
	}
	_, err = fmt.Fprint(w, "}}\n")
	return err
}

func line(w io.Writer, name string, value interface{}, last bool) {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	comma := ","
	if last {
		comma = ""
	}
	fmt.Fprintf(w, "%q:%s%s\n", name, text, comma)
}

type dumper struct {
	schema *smdschema.Schema
	keys   map[string]bool // "<type>.<field>" that are keys of some list
	types  map[string]interface{}
}

func short(name string) string {
	name = strings.TrimPrefix(name, "io.k8s.")
	name = strings.TrimPrefix(name, "api.")
	return strings.Replace(name, "apimachinery.pkg.apis.", "", 1)
}

func (d *dumper) findKeys(a smdschema.Atom) {
	if a.List != nil {
		if t := a.List.ElementType.NamedType; t != nil {
			for _, k := range a.List.Keys {
				d.keys[*t+"."+k] = true
			}
		}
		d.findKeys(a.List.ElementType.Inlined)
	}
	if a.Map != nil {
		d.findKeys(a.Map.ElementType.Inlined)
		for _, f := range a.Map.Fields {
			d.findKeys(f.Type.Inlined)
		}
	}
}

func (d *dumper) named(name string) interface{} {
	switch name {
	case "__untyped_atomic_":
		return "A"
	case "__untyped_deduced_":
		return "D"
	}
	atom, ok := d.schema.Resolve(smdschema.TypeRef{NamedType: &name})
	if !ok {
		panic("no type " + name)
	}
	if atom.List == nil && atom.Map == nil {
		return d.atom(atom, name)
	}
	if _, ok := d.types[short(name)]; !ok {
		d.types[short(name)] = nil
		d.types[short(name)] = d.atom(atom, name)
	}
	return short(name)
}

func (d *dumper) ref(t smdschema.TypeRef) interface{} {
	if t.NamedType == nil {
		return d.atom(t.Inlined, "")
	}
	if t.ElementRelationship != nil {
		atom, ok := d.schema.Resolve(t)
		if !ok {
			panic("no type " + *t.NamedType)
		}
		return d.atom(atom, *t.NamedType)
	}
	return d.named(*t.NamedType)
}

func (d *dumper) atom(a smdschema.Atom, name string) interface{} {
	scalar := ""
	if a.Scalar != nil {
		scalar = string(*a.Scalar)[:1]
		if a.List == nil && a.Map == nil {
			return scalar
		}
		if scalar != "u" {
			panic("a typed scalar beside other shapes in " + name)
		}
	}
	out := map[string]interface{}{}
	if scalar != "" {
		out["u"] = 1
	}
	if a.List != nil {
		l := map[string]interface{}{"i": d.ref(a.List.ElementType)}
		if a.List.ElementRelationship == smdschema.Associative {
			if len(a.List.Keys) > 0 {
				l["k"] = a.List.Keys
			} else {
				l["s"] = 1
			}
		}
		out["l"] = l
	}
	if a.Map != nil {
		m := map[string]interface{}{}
		if len(a.Map.Fields) > 0 {
			fields := map[string]interface{}{}
			for _, f := range a.Map.Fields {
				ref := d.ref(f.Type)
				if f.Default != nil && d.keys[name+"."+f.Name] {
					ref = []interface{}{ref, f.Default}
				}
				fields[f.Name] = ref
			}
			m["f"] = fields
		}
		if e := a.Map.ElementType; e.NamedType != nil || e.Inlined != (smdschema.Atom{}) {
			m["r"] = d.ref(e)
		}
		if a.Map.ElementRelationship == smdschema.Atomic {
			m["a"] = 1
		}
		out["m"] = m
	}
	return out
}
