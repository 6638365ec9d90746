package core

import (
	"slices"
	"strings"
	"time"

	az "onedoor/internal/az/openai"
)

// Account is an Azure OpenAI account.
type Account struct {
	// Name is the custom subdomain: the account answers as <Name>.openai.azure.com.
	Name string
	// Region is where it stands, such as "swedencentral". It decides the pool of
	// quota, and whether a job that does not fit is refused at once (A820).
	Region string
	// KeysAllowed lets callers show an api-key instead of a token.
	KeysAllowed bool
	// Networks are the labels of networks that may connect; empty lets all.
	Networks []string
	// Classic makes the account accept a job that does not fit and fail it
	// later, whatever its region (A821).
	Classic bool
	// Deployments are those of the account; a name occurs once.
	Deployments []Deployment
}

// Deployment is one deployment of a model.
type Deployment struct {
	// Name is what lines call the model.
	Name string
	// Model and Version are what answers name as the model.
	Model, Version string
	// SKU is the kind, such as "GlobalBatch"; see internal/az/openai.
	SKU string
	// Capacity is in units of 1,000 tokens: per minute, or enqueued (A822).
	Capacity int64
}

// Pool names a quota of enqueued tokens that all accounts of the subscription in a
// region share, for one model and kind of deployment (A822).
type Pool struct{ Region, Model, SKU string }

// Principal is who a token was issued to.
type Principal struct {
	// ID is the object id that logs show.
	ID string
	// Actions are the data actions of its roles; "*" stands for any characters.
	Actions []string
}

// Config is what a state starts from.
type Config struct {
	// Start is the virtual time at the beginning.
	Start    time.Time
	Accounts []Account
	// Pools are quotas in tokens; a pool that is not listed has no limit.
	Pools map[Pool]int64
	// Limits replace Azure's where they are not zero.
	Limits Limits
	// Behaviour is how files and jobs go; see DefaultBehaviour.
	Behaviour Behaviour
}

// Limits are the service's limits (A810).
type Limits struct {
	FileBytes     int64         // of an uploaded file
	FileLines     int           // requests in a file
	LineBytes     int           // of one line
	Files         int           // batch input files without an expiry in an account
	ExpiringFiles int           // batch input files with one
	MinExpiry     time.Duration // of a file
	MaxExpiry     time.Duration
}

// azureLimits are documented, but for LineBytes: Azure names no limit for a line, and
// this one bounds the memory of a scan.
// https://learn.microsoft.com/azure/ai-foundry/openai/how-to/batch
var azureLimits = Limits{
	FileBytes:     200 << 20,
	FileLines:     100_000,
	LineBytes:     16 << 20,
	Files:         500,
	ExpiringFiles: 10_000,
	MinExpiry:     1_209_600 * time.Second,
	MaxExpiry:     2_592_000 * time.Second,
}

func (l Limits) withDefaults() Limits {
	d := azureLimits
	if l.FileBytes > 0 {
		d.FileBytes = l.FileBytes
	}
	if l.FileLines > 0 {
		d.FileLines = l.FileLines
	}
	if l.LineBytes > 0 {
		d.LineBytes = l.LineBytes
	}
	if l.Files > 0 {
		d.Files = l.Files
	}
	if l.ExpiringFiles > 0 {
		d.ExpiringFiles = l.ExpiringFiles
	}
	if l.MinExpiry > 0 {
		d.MinExpiry = l.MinExpiry
	}
	if l.MaxExpiry > 0 {
		d.MaxExpiry = l.MaxExpiry
	}
	return d
}

// failFastRegions refuse a job that does not fit when it is created (A820).
// https://learn.microsoft.com/azure/ai-foundry/openai/how-to/batch
var failFastRegions = strings.Fields(`australiaeast eastus eastus2 germanywestcentral italynorth
	northcentralus polandcentral swedencentral switzerlandnorth westus`)

func (a Account) failsFast() bool { return !a.Classic && slices.Contains(failFastRegions, a.Region) }

func (a Account) deployment(name string) (Deployment, bool) {
	for _, d := range a.Deployments {
		if d.Name == name {
			return d, true
		}
	}
	return Deployment{}, false
}

func (d Deployment) batch() bool {
	sku, _ := az.Lookup(d.SKU)
	return sku.Batch
}

func (d Deployment) provisioned() bool {
	sku, _ := az.Lookup(d.SKU)
	return sku.Provisioned
}

// tokens is the capacity in tokens.
func (d Deployment) tokens() int64 { return d.Capacity * az.TokensPerUnit }

// version is what answers name as the model.
func (d Deployment) version() string {
	if d.Version == "" {
		return d.Model
	}
	return d.Model + "-" + d.Version
}
