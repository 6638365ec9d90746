package pod

import (
	appsv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/apps/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

const (
	// StartSeconds is how long a deployment may take to start: longer than a node that
	// has to be made for it.
	StartSeconds = 900
	// Revisions is how many past versions a deployment can go back to.
	Revisions = 3
)

// OneByOne replaces the pods of a deployment one at a time.
func OneByOne() appsv1.DeploymentStrategyArgs {
	return appsv1.DeploymentStrategyArgs{Type: pulumi.String("RollingUpdate"), RollingUpdate: appsv1.RollingUpdateDeploymentArgs{
		MaxUnavailable: pulumi.Int(1), MaxSurge: pulumi.Int(1),
	}}
}
