// oracle answers server-side apply requests with upstream's own field manager, one JSON line each,
// so that our small implementation can be compared with it by the hundred thousand.
//
//	oracle        reads requests from stdin (see request) and writes one answer per line
//	oracle dump   writes the merge structure of the built-in kinds: src/embedded/apply/builtins.json
//
// Objects are unstructured on both sides, so that answers hold exactly the JSON that was merged; defaulting and
// conversion to Go structs happen around the field manager in kube-apiserver and are no part of this comparison.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/klog/v2"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

type request struct {
	Op string `json:"op"` // apply, update, schema

	// Kind is "<apiVersion>/<kind>" of a built-in kind or of a schema registered before.
	Kind   string          `json:"kind"`
	Schema json.RawMessage `json:"schema"` // op schema: openAPIV3Schema of the custom kind

	Live        map[string]interface{} `json:"live"`
	New         map[string]interface{} `json:"new"` // the applied configuration, or the object after an update
	Manager     string                 `json:"manager"`
	Force       bool                   `json:"force"`
	Subresource string                 `json:"subresource"`
	Reset       [][]string             `json:"reset"`
	Time        string                 `json:"time"` // what "now" is
}

type answer struct {
	Object map[string]interface{} `json:"object,omitempty"`
	Error  *failure               `json:"error,omitempty"`
}

type failure struct {
	Code    int32                `json:"code"`
	Reason  string               `json:"reason"`
	Message string               `json:"message"`
	Causes  []metav1.StatusCause `json:"causes,omitempty"`
}

// kind is all that the field manager needs to know of one kind.
type kind struct {
	gvk       schema.GroupVersionKind
	converter managedfields.TypeConverter
	zero      map[string]interface{}
	custom    bool
	managers  map[string]*managedfields.FieldManager
}

func main() {
	klog.SetOutput(io.Discard)
	flags := flag.NewFlagSet("klog", flag.PanicOnError)
	klog.InitFlags(flags)
	flags.Set("logtostderr", "false")
	if len(os.Args) > 1 && os.Args[1] == "dump" {
		if err := dump(os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "oracle: dump:", err)
			os.Exit(1)
		}
		return
	}
	kinds, err := builtinKinds()
	if err != nil {
		fmt.Fprintln(os.Stderr, "oracle:", err)
		os.Exit(1)
	}
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 1 {
			text, err := json.Marshal(handle(kinds, line))
			if err != nil {
				fmt.Fprintln(os.Stderr, "oracle: encode:", err)
				os.Exit(1)
			}
			out.Write(text)
			out.WriteByte('\n')
		}
		if err != nil {
			out.Flush()
			return
		}
		if in.Buffered() == 0 {
			out.Flush()
		}
	}
}

func handle(kinds map[string]*kind, line []byte) answer {
	var req request
	if err := kjson.UnmarshalCaseSensitivePreserveInts(line, &req); err != nil {
		return failed(err)
	}
	if req.Op == "schema" {
		k, err := customKind(req.Kind, req.Schema)
		if err != nil {
			return failed(err)
		}
		kinds[req.Kind] = k
		return answer{Object: map[string]interface{}{}}
	}
	k, ok := kinds[req.Kind]
	if !ok {
		return failed(fmt.Errorf("oracle: unknown kind %q", req.Kind))
	}
	fm, err := k.manager(req.Subresource, req.Reset)
	if err != nil {
		return failed(err)
	}
	now, err := time.Parse(time.RFC3339, req.Time)
	if err != nil {
		return failed(err)
	}
	// Upstream reads the clock itself. Instead of touching its results, the times of the live object are moved so that the
	// request's time is the real one, and back again; a second that passes in between is tried again.
	for {
		start := time.Now()
		shift := start.Truncate(time.Second).Sub(now)
		result := k.run(fm, req, shift)
		if time.Now().Unix() == start.Unix() {
			return result
		}
	}
}

func (k *kind) run(fm *managedfields.FieldManager, req request, shift time.Duration) answer {
	live := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(k.zero)}
	if req.Live != nil {
		live.Object = runtime.DeepCopyJSON(req.Live)
		shiftTimes(live, shift)
	}
	next := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(req.New)}
	var object runtime.Object
	var err error
	switch req.Op {
	case "apply":
		object, err = fm.Apply(live, next, req.Manager, req.Force)
	case "update":
		shiftTimes(next, shift)
		object = fm.UpdateNoErrors(live, next, req.Manager)
	default:
		err = fmt.Errorf("oracle: unknown op %q", req.Op)
	}
	if err != nil {
		return failed(err)
	}
	u := object.(*unstructured.Unstructured)
	shiftTimes(u, -shift)
	return answer{Object: u.Object}
}

func shiftTimes(u *unstructured.Unstructured, shift time.Duration) {
	metadata, _ := u.Object["metadata"].(map[string]interface{})
	entries, _ := metadata["managedFields"].([]interface{})
	for _, e := range entries {
		entry, _ := e.(map[string]interface{})
		text, _ := entry["time"].(string)
		if t, err := time.Parse(time.RFC3339, text); err == nil {
			entry["time"] = t.Add(shift).UTC().Format(time.RFC3339)
		}
	}
}

func failed(err error) answer {
	status, ok := err.(apierrors.APIStatus)
	if !ok {
		return answer{Error: &failure{Code: 500, Message: err.Error()}}
	}
	s := status.Status()
	f := &failure{Code: s.Code, Reason: string(s.Reason), Message: s.Message}
	if s.Details != nil {
		f.Causes = s.Details.Causes
	}
	return answer{Error: f}
}

func (k *kind) manager(subresource string, reset [][]string) (*managedfields.FieldManager, error) {
	key := fmt.Sprint(subresource, reset)
	if fm, ok := k.managers[key]; ok {
		return fm, nil
	}
	var filters map[fieldpath.APIVersion]fieldpath.Filter
	if len(reset) > 0 {
		set := fieldpath.NewSet()
		for _, path := range reset {
			parts := make([]interface{}, len(path))
			for i, p := range path {
				parts[i] = p
			}
			set.Insert(fieldpath.MakePathOrDie(parts...))
		}
		filters = fieldpath.NewExcludeFilterSetMap(map[fieldpath.APIVersion]*fieldpath.Set{
			fieldpath.APIVersion(k.gvk.GroupVersion().String()): set,
		})
	}
	build := managedfields.NewDefaultFieldManager
	if k.custom {
		build = managedfields.NewDefaultCRDFieldManager
	}
	fm, err := build(k.converter, objects{}, objects{}, creater{k}, k.gvk, k.gvk.GroupVersion(), subresource, filters)
	if err == nil {
		k.managers[key] = fm
	}
	return fm, err
}

// creater makes what a new Go struct of the kind looks like as JSON.
type creater struct{ k *kind }

func (c creater) New(schema.GroupVersionKind) (runtime.Object, error) {
	return &unstructured.Unstructured{Object: runtime.DeepCopyJSON(c.k.zero)}, nil
}

// objects converts between versions by name only (one version per kind) and defaults nothing.
type objects struct{}

func (objects) Default(runtime.Object) {}

func (objects) Convert(in, out, context interface{}) error {
	return fmt.Errorf("oracle: Convert is not used by field managers")
}

func (objects) ConvertToVersion(in runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	gvk := in.GetObjectKind().GroupVersionKind()
	to, ok := target.KindForGroupVersionKinds([]schema.GroupVersionKind{gvk})
	if !ok {
		return nil, runtime.NewNotRegisteredGVKErrForTarget("oracle", gvk, target)
	}
	if to == gvk {
		return in, nil
	}
	out := in.DeepCopyObject()
	out.GetObjectKind().SetGroupVersionKind(to)
	return out, nil
}

func (objects) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}
