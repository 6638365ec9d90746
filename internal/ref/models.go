package ref

import "github.com/pulumi/pulumi/sdk/v3/go/pulumi"

// ModelAccount is a model account, ready once its one caller has its role, its
// name resolves and its deployments exist.
type ModelAccount struct {
	Resource
	Name     string              // of the account and its custom subdomain, known before it exists
	Endpoint pulumi.StringOutput // URL without a slash at the end, once it is ready to be called
}
