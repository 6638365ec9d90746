package schedule

import (
	"maps"
	"slices"

	"onedoor/services/controlplane/account"
	"onedoor/services/controlplane/jobs"
)

// drift is the part of a deployment's quota by which the counts of ledger and account
// may differ before somebody reads of it, in percent: the account counts tokens, the
// ledger estimates them.
const drift = 10

// counted notes what the account says of a deployment when it makes a job, which is
// the only time that it does. Of several jobs in a tick, the last one says most.
// https://learn.microsoft.com/azure/ai-foundry/openai/how-to/batch
func (l *Leader) counted(deployment string, quota account.Quota) {
	if quota.Most == 0 {
		return
	}
	l.lock.Lock()
	defer l.lock.Unlock()
	if l.quotas == nil {
		l.quotas = map[string]account.Quota{}
	}
	quota.Enqueued = max(quota.Enqueued, l.quotas[deployment].Enqueued)
	l.quotas[deployment] = quota
}

// compare compares what the account has said in this tick with the tokens of jobs
// that the ledger knows to be there, and with the configuration. The account counts
// more when somebody else enqueues, or jobs that have ended still count; and less when
// jobs have ended since the last look.
func (l *Leader) compare(open []*jobs.Job) {
	running := map[string]int64{}
	for _, j := range open {
		for n := range j.Parts {
			if p := &j.Parts[n]; p.State == jobs.Running {
				running[j.Deployment] += p.Counts()
			}
		}
	}
	configured := map[string]int64{}
	for _, alias := range l.Settings.Aliases {
		configured[alias.Deployment] = int64(alias.EnqueuedTokens)
	}
	for _, deployment := range slices.Sorted(maps.Keys(l.quotas)) {
		quota := l.quotas[deployment]
		more := quota.Enqueued - running[deployment]
		l.Drift(deployment, more)
		if max(more, -more)*100 > quota.Most*drift {
			l.Log.Warn("account and ledger differ in how many tokens are enqueued", "deployment", deployment, "account", quota.Enqueued, "ledger", running[deployment])
		}
		if quota.Most < configured[deployment] {
			l.Log.Warn("the deployment takes fewer tokens than configured", "deployment", deployment, "takes", quota.Most, "configured", configured[deployment])
		}
	}
	l.quotas = nil
}
