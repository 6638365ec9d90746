//go:build judges

package judges

import (
	"strings"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/protobuf/proto"
)

// Releases of Helm are not put to the judge: it reads their chart from the registry,
// and there the simulated Azure has none. They are kept as they are declared.

// isRelease says whether a resource is one.
func isRelease(req interface{ GetUrn() string }) bool {
	return strings.Contains(req.GetUrn(), "kubernetes:helm.sh/v3:Release::")
}

func checkRelease(req *pulumirpc.CheckRequest) *pulumirpc.CheckResponse {
	return &pulumirpc.CheckResponse{Inputs: req.GetNews()}
}

func diffRelease(req *pulumirpc.DiffRequest) *pulumirpc.DiffResponse {
	if proto.Equal(req.GetOldInputs(), req.GetNews()) {
		return &pulumirpc.DiffResponse{Changes: pulumirpc.DiffResponse_DIFF_NONE}
	}
	return &pulumirpc.DiffResponse{Changes: pulumirpc.DiffResponse_DIFF_SOME}
}

func createRelease(req *pulumirpc.CreateRequest) *pulumirpc.CreateResponse {
	made := &pulumirpc.CreateResponse{Properties: req.GetProperties()}
	if !req.GetPreview() {
		made.Id = req.GetProperties().GetFields()["name"].GetStringValue()
	}
	return made
}

func readRelease(req *pulumirpc.ReadRequest) *pulumirpc.ReadResponse {
	return &pulumirpc.ReadResponse{Id: req.GetId(), Properties: req.GetProperties(), Inputs: req.GetInputs()}
}

func updateRelease(req *pulumirpc.UpdateRequest) *pulumirpc.UpdateResponse {
	return &pulumirpc.UpdateResponse{Properties: req.GetNews()}
}
