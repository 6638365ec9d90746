package core

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"onedoor/internal/armtypes"
)

// Apply answers one operation. It does not change s: the state it returns is s
// itself when the operation was refused or only read, and a new one otherwise.
func Apply(s State, op Op) (State, Answer) {
	op.ID = Clean(op.ID)
	switch op.Method {
	case Get:
		return s, get(s, op)
	case List:
		return s, list(s, op)
	case Put, Patch:
		return put(s, op)
	case Delete:
		return remove(s, op)
	}
	return s, refused(refuse(MethodNotAllowed, op.ID, "method of "+op.ID, strconv.Quote(string(op.Method)),
		"GET, PUT, PATCH or DELETE", "use one of them"))
}

func get(s State, op Op) Answer {
	if _, err := lookup(op); err != nil {
		return refused(err)
	}
	r, ok := s.Find(op.ID)
	if !ok {
		if r, ok = s.External[Key(op.ID)]; !ok {
			return refused(s.missing(op.ID))
		}
	}
	return Answer{Status: http.StatusOK, Body: s.Show(r)}
}

// list answers GET on a collection such as .../virtualNetworks/v/subnets or
// /subscriptions/s/resourceGroups.
func list(s State, op Op) Answer {
	if _, err := lookup(Op{ID: op.ID + "/x", APIVersion: op.APIVersion}); err != nil {
		return refused(err)
	}
	if parent := ParentOf(op.ID + "/x"); parent != "" {
		if _, ok := s.Find(parent); !ok && GroupOf(parent) != "" {
			if _, external := s.External[Key(parent)]; !external {
				return refused(s.missing(parent))
			}
		}
	}
	var found []*Resource
	for _, r := range s.Resources {
		if listed(op.ID, r) {
			found = append(found, r)
		}
	}
	slices.SortFunc(found, byID)
	items := make([]map[string]any, len(found))
	for i, r := range found {
		items[i] = s.Show(r)
	}
	return Answer{Status: http.StatusOK, Items: items}
}

// listed says whether a collection shows r: what lies right below it and, for one
// of a whole subscription, what all groups have of the type (A084).
func listed(collection string, r *Resource) bool {
	if Key(collection+"/"+Name(r.ID)) == Key(r.ID) {
		return true
	}
	subscription, typ, _ := strings.Cut(Clean(collection), "/providers/")
	return Key(subscription) == Key("/subscriptions/"+SubscriptionOf(r.ID)) && strings.EqualFold(typ, r.Type)
}

// put replaces a resource whole (A007), or makes it. The resource is there at
// once, and settles when its operation ends (A001).
func put(s State, op Op) (State, Answer) {
	typ, err := lookup(op)
	if err != nil {
		return s, refused(err)
	}
	old, exists := s.Find(op.ID)
	if err := precondition(op, old); err != nil {
		return s, refused(err)
	}
	b := behaviourOf(armType(typ, op.ID))
	if !op.TypesOnly {
		if err := s.parentReady(typ, op.ID, op.Instant); err != nil {
			return s, refused(err)
		}
	}
	if !op.Instant && !op.TypesOnly {
		if busy := s.busy(b.lockOf(op.ID)); busy != nil {
			return s, inProgress(op.ID, busy)
		}
	}
	body := copyBody(op.Body)
	if op.Method == Patch {
		if !exists {
			return s, refused(s.missing(op.ID))
		}
		body = merge(copyBody(old.Body), body)
	}
	for _, key := range []string{"id", "name", "type", "etag"} {
		delete(body, key)
	}
	r := &Resource{ID: op.ID, Type: armType(typ, op.ID), APIVersion: typ.APIVersion, Body: body, Generation: 1, Born: s.Births[Key(op.ID)] + 1}
	if exists {
		r.ID, r.Generation, r.Born = old.ID, old.Generation+1, old.Born
	} else {
		r.ID = s.canonical(op.ID)
	}
	if err := generic(r, old, typ); err != nil {
		return s, refused(err)
	}
	if !op.TypesOnly {
		if err := s.allowed(r); err != nil {
			return s, refused(err)
		}
		for _, check := range b.check {
			if err := check(s, r, old); err != nil {
				return s, refused(err)
			}
		}
	}
	s.normalise(r)
	if b.complete != nil {
		b.complete(s, r, old)
	}
	s.addIdentity(r)
	r.Etag = etag(r)

	next := s.clone()
	next.Births[Key(r.ID)] = r.Born
	delete(next.SoftDeleted, Key(r.ID))
	took, status := b.update, http.StatusOK
	r.Provisioning = Updating
	if !exists {
		took, status = b.create, http.StatusCreated
		r.Provisioning = Creating
	}
	if b.took != nil {
		took = b.took(r, old)
	}
	if op.Instant || took == 0 && op.Fail == nil {
		r.Provisioning = Succeeded
		next.Resources[Key(r.ID)] = r
		next.Seq++
		if b.after != nil {
			b.after(&next, r, old)
		}
		return next, Answer{Status: status, Body: next.Show(r)}
	}
	next.Resources[Key(r.ID)] = r
	o := next.start(op, r.ID, b.lockOf(r.ID), next.Now+took)
	if b.after != nil {
		b.after(&next, r, old)
	}
	return next, Answer{Status: status, Body: next.Show(r), Operation: o}
}

func remove(s State, op Op) (State, Answer) {
	typ, err := lookup(op)
	if err != nil {
		return s, refused(err)
	}
	old, exists := s.Find(op.ID)
	if !exists {
		// Deleting what is not there succeeds with 204 (A017).
		return s, Answer{Status: http.StatusNoContent}
	}
	if err := precondition(op, old); err != nil {
		return s, refused(err)
	}
	b := behaviourOf(armType(typ, op.ID))
	if !op.TypesOnly {
		if busy := s.busy(b.lockOf(op.ID)); busy != nil {
			return s, inProgress(op.ID, busy)
		}
		for _, child := range s.under(op.ID) {
			if busy := s.busy(Key(child.ID)); busy != nil {
				return s, inProgress(op.ID, busy)
			}
		}
		if err := s.deletable(old); err != nil {
			return s, refused(err)
		}
	}
	next := s.clone()
	r := *old
	r.Provisioning = Deleting
	next.Resources[Key(r.ID)] = &r
	if op.Instant || b.remove == 0 && op.Fail == nil {
		next.Seq++
		next.drop(&r)
		return next, Answer{Status: http.StatusOK}
	}
	o := next.start(op, r.ID, b.lockOf(r.ID), next.Now+b.remove)
	return next, Answer{Status: http.StatusAccepted, Operation: o}
}

// start records an accepted operation.
func (s *State) start(op Op, id, lock string, end Duration) *Operation {
	s.Seq++
	o := &Operation{
		ID: fmt.Sprintf("op-%06d", s.Seq), Seq: s.Seq, Method: op.Method, Target: id,
		Start: s.Now, End: end, Lock: lock, Fail: op.Fail,
	}
	s.Operations[o.ID] = o
	return o
}

// precondition checks If-Match and If-None-Match (A011).
func precondition(op Op, old *Resource) *Error {
	current := "no resource"
	if old != nil {
		current = old.Etag
	}
	switch {
	case op.IfMatch != "" && (old == nil || op.IfMatch != "*" && op.IfMatch != old.Etag):
		return refuse(PreconditionFailed, op.ID, "If-Match of "+op.ID, op.IfMatch,
			current+", because somebody else wrote it in between", "read it again and repeat the change")
	case op.IfNoneMatch == "*" && old != nil:
		return refuse(PreconditionFailed, op.ID, "If-None-Match of "+op.ID, "*",
			"no such resource, but it exists with etag "+current, "use another name or update it")
	}
	return nil
}

// busy returns the running operation that holds lock, if any.
func (s State) busy(lock string) *Operation {
	var found *Operation
	for _, o := range s.Operations {
		if (o.Lock == lock || Key(o.Target) == lock) && (found == nil || o.End > found.End) {
			found = o
		}
	}
	return found
}

func inProgress(id string, o *Operation) Answer {
	code := AnotherOperationInProgress
	if b := behaviourOf(TypeOf(id)); b.busy != "" && b.busy == behaviourOf(TypeOf(o.Target)).busy {
		code = b.busy
	}
	a := refused(refuse(code, id, "write to "+id,
		fmt.Sprintf("a second one while %s of %s is in progress until %s", o.Method, o.Target, o.End),
		"one at a time on this or a dependent resource", "make one depend on the other, or retry later"))
	a.RetryAt = o.End
	return a
}

// parentReady checks that the group and the parent exist and have settled
// (A003, A004), and that the group is not going (A018).
func (s State) parentReady(typ *armtypes.Resource, id string, instant bool) *Error {
	if group := GroupOf(id); group != "" && Key(group) != Key(id) {
		g, ok := s.Find(group)
		if !ok {
			if !s.hosted(id) {
				return refuse(ResourceGroupNotFound, group, "resource group of "+id,
					fmt.Sprintf("%q, which does not exist", Name(group)), "an existing group, because a resource lives in one",
					"create the group first and take its name from it")
			}
		} else if g.Provisioning == Deleting {
			return refuse(ResourceGroupBeingDeleted, group, "resource group of "+id,
				fmt.Sprintf("%q, which is being deleted", Name(group)), "a group that stays", "wait until it is gone and create it again")
		}
	}
	parent, ok := typ.ParentID(id)
	if !ok || isType(TypeOf(parent), groupType) {
		return nil
	}
	p, ok := s.Find(parent)
	if !ok {
		if s.hosted(id) {
			return nil
		}
		return refuse(ParentResourceNotFound, parent, "parent of "+id,
			fmt.Sprintf("%q, which does not exist", parent), "an existing resource, because a child lives in its parent",
			"create the parent first and take its name from it")
	}
	if p.Provisioning != Succeeded && !instant && (!behaviourOf(typ.ARMType).attached || p.Provisioning == Creating) {
		code := ReferencedResourceNotProvisioned
		if unready := behaviourOf(p.Type).unready; unready != "" {
			code = unready
		}
		return refuse(code, parent, "parent of "+id,
			fmt.Sprintf("%s in state %s", p.ID, p.Provisioning), "state Succeeded, because Azure lets nothing into a resource that is being made",
			"let the child depend on its parent")
	}
	return nil
}

// hosted says whether id lies in something that belongs to somebody else: a
// seeded resource, or a group that is not ours (A014).
func (s State) hosted(id string) bool {
	for parent := ParentOf(id); parent != ""; parent = ParentOf(parent) {
		if _, ok := s.External[Key(parent)]; ok {
			return true
		}
	}
	// A child of a resource in a foreign group; a new top-level resource in a
	// group nobody knows is refused, or a typo in a name would pass.
	parent := ParentOf(id)
	if isType(TypeOf(parent), groupType) || TypeOf(parent) == "" {
		return false
	}
	_, ours := s.Find(GroupOf(parent))
	return !ours
}

// missing is the 404 for id.
func (s State) missing(id string) *Error {
	if isType(TypeOf(id), groupType) {
		return refuse(ResourceGroupNotFound, id, "resource group "+id, "nothing", "an existing resource group", "create it first")
	}
	if group := GroupOf(id); group != "" {
		if _, ok := s.Find(group); !ok {
			return refuse(ResourceGroupNotFound, group, "resource group of "+id, "nothing", "an existing resource group", "create it first")
		}
	}
	return refuse(ResourceNotFound, id, "resource "+id, "nothing", "an existing resource", "create it first")
}

// under returns what lives below id, sorted by id: everything, or what is of one
// of the types.
func (s State) under(id string, types ...string) []*Resource {
	prefix := Key(id) + "/"
	var keys []string
	for key, r := range s.Resources {
		if strings.HasPrefix(key, prefix) && (len(types) == 0 || slices.ContainsFunc(types, func(want string) bool { return isType(r.Type, want) })) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	out := make([]*Resource, len(keys))
	for i, key := range keys {
		out[i] = s.Resources[key]
	}
	return out
}

func byID(a, b *Resource) int { return strings.Compare(Key(a.ID), Key(b.ID)) }

// deletable asks the rules of a resource and of all that would go with it
// (A008). What goes together does not stand in its own way.
func (s State) deletable(r *Resource) *Error {
	for _, each := range append([]*Resource{r}, s.under(r.ID)...) {
		if inUse := behaviourOf(each.Type).inUse; inUse != nil {
			if err := inUse(s, each, r); err != nil {
				return err
			}
		}
	}
	return nil
}

// drop takes r and everything below it out of the state.
func (s *State) drop(r *Resource) {
	all := append([]*Resource{r}, s.under(r.ID)...)
	for _, each := range all {
		if gone := behaviourOf(each.Type).gone; gone != nil {
			gone(s, each)
		}
	}
	for _, each := range all {
		delete(s.Resources, Key(each.ID))
		s.dropObjects(each)
		if behaviourOf(each.Type).softDelete {
			gone := *each
			gone.DeletedAt, gone.Provisioning = s.Now, Succeeded
			s.SoftDeleted[Key(each.ID)] = &gone
		}
	}
}

// merge is a JSON merge patch (RFC 7386); it changes and returns target.
func merge(target, patch map[string]any) map[string]any {
	for key, v := range patch {
		switch v := v.(type) {
		case nil:
			delete(target, key)
		case map[string]any:
			sub, ok := target[key].(map[string]any)
			if !ok {
				sub = map[string]any{}
			}
			target[key] = merge(sub, v)
		default:
			target[key] = v
		}
	}
	return target
}
