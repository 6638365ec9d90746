// Package verify asks Azure, after an update, who can in effect reach a model, and
// tries from inside the cluster what must be refused. What should be follows from the
// plan that a preview makes.
//
// It changes nothing in Azure; in the cluster it makes Jobs and deletes them. It reads
// no directory, so a group is a group: who is in it is for its owner to say. What could
// not be read is reported as not checked and never as good.
package verify
