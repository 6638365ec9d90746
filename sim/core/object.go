package core

import (
	"fmt"
	"maps"
	"strings"
)

// Object is one object in the API server of a managed cluster. Here objects are
// only kept, and go with their cluster; package kube decides about them.
type Object struct {
	// Cluster is the id of the managed cluster, and Born which creation under
	// this id it is: a cluster that is made again begins empty (A610).
	Cluster string `json:"cluster"`
	Born    int    `json:"born"`
	// Name is the object's place in the cluster: "apps/Deployment/batch/worker".
	Name string `json:"name"`
	// Body is the object as the API server answers it.
	Body map[string]any `json:"body"`
	// Generation counts writes, from 1; Life is which object under this name
	// it is, from 1.
	Generation int `json:"generation"`
	Life       int `json:"life"`
}

// objectsOf is what the keys of all objects of a cluster begin with.
func objectsOf(cluster string, born int) string { return fmt.Sprintf("%s#%d/", Key(cluster), born) }

// ObjectKey returns the key of an object in State.Objects.
func ObjectKey(cluster *Resource, name string) string {
	return objectsOf(cluster.ID, cluster.Born) + name
}

// ObjectsOf returns the objects of a cluster, sorted by name.
func (s State) ObjectsOf(cluster *Resource) []*Object {
	prefix := objectsOf(cluster.ID, cluster.Born)
	var out []*Object
	for _, key := range sortedKeys(s.Objects) {
		if strings.HasPrefix(key, prefix) {
			out = append(out, s.Objects[key])
		}
	}
	return out
}

// PutObject returns a state with the object in it; Generation and Life are set
// here. The object must not be changed afterwards.
func (s State) PutObject(cluster *Resource, name string, body map[string]any) State {
	key := ObjectKey(cluster, name)
	o := &Object{Cluster: cluster.ID, Born: cluster.Born, Name: name, Body: body, Generation: 1, Life: s.Births[key] + 1}
	s = s.clone()
	if old, ok := s.Objects[key]; ok {
		o.Generation, o.Life = old.Generation+1, old.Life
	}
	s.Objects[key], s.Births[key] = o, o.Life
	s.Seq++
	return s
}

// DropObject returns a state without the object.
func (s State) DropObject(cluster *Resource, name string) State {
	s = s.clone()
	delete(s.Objects, ObjectKey(cluster, name))
	s.Seq++
	return s
}

// dropObjects takes out all objects of a cluster that is deleted.
func (s *State) dropObjects(r *Resource) {
	if !strings.EqualFold(r.Type, "microsoft.containerservice/managedclusters") {
		return
	}
	prefix := objectsOf(r.ID, r.Born)
	maps.DeleteFunc(s.Objects, func(key string, _ *Object) bool { return strings.HasPrefix(key, prefix) })
	maps.DeleteFunc(s.Births, func(key string, _ int) bool { return strings.HasPrefix(key, prefix) })
}
