package kube

import (
	"maps"
	"slices"
	"strings"

	"onedoor/internal/policypack"
	"onedoor/internal/propvalue"
)

// specs are the types that hold templates of pods, by the paths to the specs; "*"
// stands for every item of a list.
var specs = map[string][][]string{
	"kubernetes:core:Pod":         {{"spec"}},
	Deployment:                    {{"spec", "template", "spec"}},
	"kubernetes:apps:StatefulSet": {{"spec", "template", "spec"}},
	"kubernetes:apps:DaemonSet":   {{"spec", "template", "spec"}},
	"kubernetes:apps:ReplicaSet":  {{"spec", "template", "spec"}},
	"kubernetes:batch:Job":        {{"spec", "template", "spec"}},
	"kubernetes:batch:CronJob":    {{"spec", "jobTemplate", "spec", "template", "spec"}},
	ScaledJob:                     {{"spec", "jobTargetRef", "template", "spec"}},
	RayCluster:                    {{"spec", "headGroupSpec", "template", "spec"}, {"spec", "workerGroupSpecs", "*", "template", "spec"}},
	RayService:                    {{"spec", "rayClusterConfig", "headGroupSpec", "template", "spec"}, {"spec", "rayClusterConfig", "workerGroupSpecs", "*", "template", "spec"}},
	RayJob:                        {{"spec", "rayClusterSpec", "headGroupSpec", "template", "spec"}, {"spec", "rayClusterSpec", "workerGroupSpecs", "*", "template", "spec"}},

	"kubernetes:core:ReplicationController": {{"spec", "template", "spec"}},
}

// Workloads are the types that make pods, sorted.
func Workloads() []string { return slices.Sorted(maps.Keys(specs)) }

// Patches are the types that change objects which are there already: those of the
// types that make pods, and others.
const Patches = "kubernetes:*" + patch

// patch ends the type of what changes an object.
const patch = "Patch"

// Pods are the specs of the pods that the object makes, as far as they are known:
// what is not known stands for the pods in it. Of a patch they are what it changes.
func Pods(r *policypack.Resource) []propvalue.Value {
	var out []propvalue.Value
	typ, patches := strings.CutSuffix(r.Type, patch)
	for _, path := range specs[typ] {
		out = append(out, Along(r.Get(), path)...)
	}
	if patches {
		out = slices.DeleteFunc(out, func(pod propvalue.Value) bool { return pod.State() == propvalue.Absent })
	}
	return out
}

// Along follows a path of properties; "*" stands for every item of a list.
func Along(v propvalue.Value, path []string) []propvalue.Value {
	for i, key := range path {
		if key != "*" {
			v = v.At(key)
			continue
		}
		items, state := v.Items()
		if state == propvalue.Unknown || state == propvalue.Mistyped {
			return []propvalue.Value{v}
		}
		var out []propvalue.Value
		for _, item := range items {
			out = append(out, Along(item, path[i+1:])...)
		}
		return out
	}
	return []propvalue.Value{v}
}
