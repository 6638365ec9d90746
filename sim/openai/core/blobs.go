package core

// PutBlob stores a blob that jobs and imports can read, or replaces one. Contents of blobs
// stay: a job may still read an earlier one.
func PutBlob(s State, url, content string, scan *Scan) State {
	version := 1
	if old := s.Blobs[url]; old != nil {
		version = old.Version + 1
	}
	s.Blobs = with(s.Blobs, url, &Blob{Content: content, Version: version, Scan: scan})
	return s
}

// Deny takes the right to a container from the accounts' identities, or gives it
// back.
func Deny(s State, url string, denied bool) State {
	s.Denied = with(s.Denied, container(url), denied)
	return s
}

// outputBlobs names the blobs of results. Both are named even if one was never
// written (A838).
func (s *State) outputBlobs(j *Job, r *Render, failures int) {
	folder := j.OutputFolder + "/" + short(j.ID)
	j.OutputBlob, j.ErrorBlob = folder+"/results.jsonl", folder+"/errors.jsonl"
	write := func(url string) string {
		s.Blobs = with(s.Blobs, url, &Blob{Content: short(url), Version: 1})
		return short(url)
	}
	if failures < j.Done {
		r.Output = write(j.OutputBlob)
	}
	if failures > 0 {
		r.Errors = write(j.ErrorBlob)
	}
}

// DeleteDeployment takes a deployment away. Rows of running jobs that are not done
// fail from now on (A834).
func DeleteDeployment(s State, account, name string) State {
	accounts := make([]Account, len(s.Accounts))
	for i, a := range s.Accounts {
		if a.Name == account {
			kept := make([]Deployment, 0, len(a.Deployments))
			for _, d := range a.Deployments {
				if d.Name != name {
					kept = append(kept, d)
				}
			}
			a.Deployments = kept
		}
		accounts[i] = a
	}
	for j := range s.Jobs.All() {
		if j.Account != account || j.Deployment != name || j.Terminal() {
			continue
		}
		changed := *j
		changed.GoneAt = s.done(j)
		s.hold(&changed, 0)
		s.setJob(changed)
	}
	s.Accounts = accounts
	return s
}
