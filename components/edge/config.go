package edge

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/ref"
)

// Where the pods find their configuration.
const (
	configPath      = "/etc/onedoor"
	bootstrapFile   = "envoy.json"
	certificateFile = "certificate.json"
)

// config declares the configuration as an object that never changes: its name is of
// its content, so that pods which start with a new one are told apart from those
// that still run with the old, and an update that fails leaves them what they have.
// It names the gateway's identity, which only Azure knows.
func (b *builder) config() (pulumi.StringInput, error) {
	files := b.args.Caller.PrincipalID.ApplyT(func(caller string) (map[string]string, error) {
		return b.args.files(caller)
	}).(pulumi.StringMapOutput)
	name := files.ApplyT(func(files map[string]string) string {
		sum := sha256.New()
		for _, file := range []string{bootstrapFile, certificateFile} {
			sum.Write([]byte(files[file]))
		}
		return app + "-" + hex.EncodeToString(sum.Sum(nil)[:4])
	}).(pulumi.StringOutput)
	metadata := b.metadata("")
	metadata.Name = name.ToStringPtrOutput()
	made, err := corev1.NewConfigMap(b.ctx, b.name+"-config", &corev1.ConfigMapArgs{Metadata: metadata, Immutable: pulumi.Bool(true), Data: files}, b.in...)
	if err != nil {
		return nil, err
	}
	return ref.After(name, made), nil
}

// files are the files of the configuration, for calls by the principal of that id.
func (a Args) files(caller string) (map[string]string, error) {
	out := map[string]string{}
	for file, content := range map[string]object{bootstrapFile: a.bootstrap(caller), certificateFile: certificate()} {
		text, err := json.MarshalIndent(content, "", "  ")
		if err != nil {
			return nil, err
		}
		out[file] = string(text) + "\n"
	}
	return out, nil
}
