package rules

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"onedoor/internal/capacity"
	"onedoor/internal/policypack"
	"onedoor/internal/policypack/annotations"
	"onedoor/internal/propvalue"
	"onedoor/policies/internal/azure"
	"onedoor/policies/internal/kube"
)

const busQuotas = "https://learn.microsoft.com/azure/service-bus-messaging/service-bus-quotas"

// maxReceivers is how many receive requests a queue takes at once, and how many
// connections a namespace does.
const maxReceivers = 5000

// capacityOfQueues are the rules that join queues and the workloads that empty
// them.
func capacityOfQueues() []policypack.Rule {
	return []policypack.Rule{
		{
			ID: "CAP-04", Severity: policypack.High,
			Title:     "Lock, renewal and deliveries of a queue follow from how long the work takes",
			Rationale: "A lock that ends before the work does gives the message to a second worker: every model call is paid twice.",
			Remedy:    "Derive lockDuration and the renewal from the 99th percentile of the work.",
			Controls:  []string{"MCSB PV-2"},
			Sources:   []string{"https://learn.microsoft.com/azure/service-bus-messaging/message-transfers-locks-settlement"},
			Types:     []string{kube.ScaledObject, kube.ScaledJob},
			Stack:     lockFits,
		},
		{
			ID: "CAP-05", Severity: policypack.Medium,
			Title:     "Batch outputs expire after 14 to 30 days, and are copied to storage of the platform before",
			Rationale: "Azure keeps 500 files without an end; outputs that it deletes are gone.",
			Remedy:    fmt.Sprintf("Annotate the control plane with %s, 14..30, and %s.", annotations.BatchOutputDays, annotations.BatchOutputContainer),
			Controls:  []string{"MCSB DP-2"},
			Sources:   []string{"https://learn.microsoft.com/azure/ai-services/openai/how-to/batch"},
			Types:     []string{kube.Deployment},
			Stack:     outputsKept,
		},
		{
			ID: "CAP-06", Severity: policypack.High,
			Title:     "Receivers stay below 5,000 for a queue and for a namespace",
			Rationale: "Beyond that Service Bus refuses connections, first to whoever comes back from a restart.",
			Remedy:    "Lower maxReplicaCount or the receivers of a replica, or split the namespace.",
			Controls:  []string{"MCSB PV-2"},
			Sources:   []string{busQuotas},
			Types:     []string{kube.ScaledObject, kube.ScaledJob},
			Stack:     receiversFit,
		},
	}
}

// annotation is what a workload says of itself.
func annotation(r *policypack.Resource, key string) propvalue.Value {
	return r.Get("metadata", "annotations", key)
}

// wholeNumber reads an annotation; ok is false when it is not known or no number
// above zero.
func wholeNumber(r *policypack.Resource, key string) (n int, ok bool) {
	text, state := annotation(r, key).Text()
	n, err := strconv.Atoi(text)
	return n, state == propvalue.Known && err == nil && n > 0
}

// kedaReplicas is KEDA's default of maxReplicaCount.
// https://keda.sh/docs/latest/reference/scaledobject-spec/#maxreplicacount
const kedaReplicas = 100

// replicas are the most pods that KEDA makes of a ScaledObject or ScaledJob; ok is
// false when that is not known.
func replicas(r *policypack.Resource) (most int, ok bool) {
	most, pods := kedaReplicas, 1
	for _, part := range []struct {
		of *int
		v  propvalue.Value
	}{{&most, r.Get("spec", "maxReplicaCount")}, {&pods, r.Get("spec", "jobTargetRef", "parallelism")}} { // the latter of jobs alone
		switch n, state := part.v.Number(); state {
		case propvalue.Known:
			if n < 0 || n > math.MaxInt32 {
				return 0, false
			}
			*part.of = int(n)
		case propvalue.Absent:
		default:
			return 0, false
		}
	}
	return most * pods, true
}

// trigger is a Service Bus trigger of a ScaledObject or ScaledJob.
type trigger struct{ namespace, queue string }

// busTriggers are the Service Bus triggers; known is false when one is not known
// enough.
func busTriggers(r *policypack.Resource) (found []trigger, known bool) {
	items, state := r.Get("spec", "triggers").Items()
	known = state == propvalue.Known
	for _, item := range items {
		kind, state := item.At("type").Text()
		if state != propvalue.Known {
			known = false
		}
		if kind != "azure-servicebus" {
			continue
		}
		namespace, ns := item.At("metadata", "namespace").Text()
		queue, qs := item.At("metadata", "queueName").Text()
		known = known && ns == propvalue.Known && !unsure(qs)
		found = append(found, trigger{namespace, queue})
	}
	return found, known
}

// eachOnBus calls judge with every Service Bus trigger of the case; it reports when
// there is none or when they are not known.
func eachOnBus(c *policypack.Case, judge func(trigger)) {
	found, known := busTriggers(c.Resource)
	switch {
	case !known:
		c.Undecided(c.Get("spec", "triggers"), "triggers that are known")
	case len(found) == 0:
		c.NotApplicable("no trigger reads from Service Bus")
	}
	for _, one := range found {
		judge(one)
	}
}

func lockFits(st *policypack.Stack, c *policypack.Case) {
	eachOnBus(c, func(at trigger) { lockFitsQueue(st, c, at) })
}

func lockFitsQueue(st *policypack.Stack, c *policypack.Case, at trigger) {
	text, _ := annotation(c.Resource, annotations.P99).Text()
	p99, err := time.ParseDuration(text)
	batch, hasBatch := wholeNumber(c.Resource, annotations.Batch)
	if err != nil || !hasBatch {
		c.Undecidedf("metadata.annotations", "annotations "+annotations.P99+" and "+annotations.Batch, "the workload does not say how long its work takes")
		return
	}
	hold, err := capacity.HoldFor(p99, batch)
	if err != nil {
		c.Fail(annotation(c.Resource, annotations.P99), err.Error())
		return
	}
	renew, renewState := annotation(c.Resource, annotations.Renew).Text()
	if every, err := time.ParseDuration(renew); renewState != propvalue.Known || err != nil {
		c.Undecided(annotation(c.Resource, annotations.Renew), "a renewal every "+hold.Renew.String())
	} else if every != hold.Renew {
		c.Fail(annotation(c.Resource, annotations.Renew), hold.Renew.String()+": "+hold.Why)
	}
	queue := queueNamed(st, at)
	if queue == nil {
		c.Undecidedf("spec.triggers", "a queue of the stack", "queue %q of namespace %q is not in the stack", at.queue, at.namespace)
		return
	}
	c.MustText(queue.Get("lockDuration"), fmt.Sprintf("PT%gS: %s", hold.Lock.Seconds(), hold.Why), func(lock string) bool {
		d, err := isoDuration(lock)
		return err == nil && d == hold.Lock
	})
	c.MustNumber(queue.Get("maxDeliveryCount"), "3..20: a message that fails by chance comes again, one that kills its worker does not come for ever", func(n float64) bool { return n >= 3 && n <= 20 })
}

// queueNamed is the queue that a trigger reads.
func queueNamed(st *policypack.Stack, at trigger) *policypack.Resource {
	for _, queue := range st.Of(azure.BusQueue) {
		name, state := azure.NameOf(queue).Text()
		namespace, nsState := queue.Get("namespaceName").Text()
		if state == propvalue.Known && nsState == propvalue.Known && strings.EqualFold(name, at.queue) && strings.EqualFold(namespace, at.namespace) {
			return queue
		}
	}
	return nil
}

// isoDuration reads what Service Bus takes: PT5M, PT30S, P1DT2H.
func isoDuration(s string) (time.Duration, error) {
	rest, ok := strings.CutPrefix(strings.ToUpper(s), "P")
	if !ok {
		return 0, fmt.Errorf("%q is not a duration", s)
	}
	days, clock, _ := strings.Cut(rest, "T")
	var d time.Duration
	if n, isDays := strings.CutSuffix(days, "D"); isDays {
		whole, err := strconv.Atoi(n)
		if err != nil {
			return 0, err
		}
		d = time.Duration(whole) * 24 * time.Hour
	}
	if clock == "" {
		return d, nil
	}
	within, err := time.ParseDuration(strings.ToLower(clock))
	return d + within, err
}

func outputsKept(st *policypack.Stack, c *policypack.Case) {
	days, container := annotation(c.Resource, annotations.BatchOutputDays), annotation(c.Resource, annotations.BatchOutputContainer)
	if days.State() == propvalue.Absent && container.State() == propvalue.Absent {
		if name, _ := c.Get("metadata", "name").Text(); name != "control-plane" {
			c.NotApplicable("it is not the control plane")
			return
		}
	}
	c.MustText(days, "14..30 days, what Azure takes", func(text string) bool {
		n, err := strconv.Atoi(text)
		return err == nil && n >= 14 && n <= 30
	})
	if !c.MustBeSet(container, "a container of the platform") {
		return
	}
	name, _ := container.Text()
	containers := st.Of(azure.BlobContainer)
	if !slices.ContainsFunc(containers, func(r *policypack.Resource) bool {
		own, state := azure.NameOf(r).Text()
		return state == propvalue.Known && own == name
	}) {
		c.Fail(container, "a container that the stack declares")
	}
}

func receiversFit(st *policypack.Stack, c *policypack.Case) {
	eachOnBus(c, func(at trigger) { receiversFitQueue(st, c, at) })
}

func receiversFitQueue(st *policypack.Stack, c *policypack.Case, at trigger) {
	expected := fmt.Sprintf("below %d", maxReceivers)
	onQueue, onNamespace, certain := 0, 0, true
	for _, other := range st.Of(kube.ScaledObject, kube.ScaledJob) {
		triggers, known := busTriggers(other)
		most, bounded := replicas(other)
		receivers, says := wholeNumber(other, annotations.Receivers)
		for _, t := range triggers {
			if !strings.EqualFold(t.namespace, at.namespace) {
				continue
			}
			if !bounded || !says {
				certain = false
				continue
			}
			onNamespace += most * receivers
			if strings.EqualFold(t.queue, at.queue) {
				onQueue += most * receivers
			}
		}
		certain = certain && known
	}
	switch {
	case onQueue >= maxReceivers || onNamespace >= maxReceivers:
		c.Failf("spec.maxReplicaCount", fmt.Sprintf("%d receivers on the queue, %d on the namespace", onQueue, onNamespace), expected)
	case !certain:
		c.Undecidedf("spec.maxReplicaCount", expected, "a workload of the namespace does not say its replicas or, by %s, its receivers", annotations.Receivers)
	default:
		c.Saw(c.Get("spec", "maxReplicaCount"), fmt.Sprintf("%s: %d on the queue, %d on the namespace", expected, onQueue, onNamespace))
	}
}
