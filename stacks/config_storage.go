package stacks

import "time"

// Storage is the root key "storage": how long what passes through is kept.
type Storage struct {
	PayloadDays    int           `json:"payloadDays"`    // of work waiting in queues; at least what a live message needs
	ResultDays     int           `json:"resultDays"`     // of answers to queued work, 1 to 3650
	BatchDays      int           `json:"batchDays"`      // of batch input and output, 1 to 3650
	EvidenceDays   int           `json:"evidenceDays"`   // of what compliance reviewers read, 30 to 3650
	SoftDeleteDays int           `json:"softDeleteDays"` // how long a deleted blob can be restored, 1 to 365
	Triage         time.Duration `json:"triage"`         // how long people may take over a dead letter, 1h to 720h
}

var defaultStorage = Storage{PayloadDays: 14, ResultDays: 30, BatchDays: 30, EvidenceDays: 365, SoftDeleteDays: 7, Triage: 72 * time.Hour}

// Limits of soft delete and of what the project keeps.
// https://learn.microsoft.com/azure/storage/blobs/soft-delete-blob-overview
const (
	maxSoftDeleteDays = 365
	maxDays           = 3650 // ten years: beyond it, an archive is the right place
	minEvidenceDays   = 30   // reviewers come weeks later
)

func (s *Storage) check(report *problems) {
	days := func(key string, n, least, most int, example string) {
		if n < least || n > most {
			report.bad("storage."+key, n, between(least, most)+" days", example)
		}
	}
	days("payloadDays", s.PayloadDays, 1, maxDays, "14")
	days("resultDays", s.ResultDays, 1, maxDays, "30")
	days("batchDays", s.BatchDays, 1, maxDays, "30")
	days("evidenceDays", s.EvidenceDays, minEvidenceDays, maxDays, "365")
	days("softDeleteDays", s.SoftDeleteDays, 1, maxSoftDeleteDays, "7")
	if s.Triage < time.Hour || s.Triage > 30*24*time.Hour {
		report.bad("storage.triage", s.Triage, "1h to 720h: people need time to look at dead letters", "72h")
	}
}
