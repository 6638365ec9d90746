package batch

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/ref"
)

// configFile is the settings' name in their object.
const configFile = "config.json"

// config declares the settings as an object that never changes: its name is of its
// content, so that pods which start with a new one are told apart from those that
// still run with the old, and an update that fails leaves them what they have.
func (b *builder) config() (pulumi.StringOutput, error) {
	text, err := json.MarshalIndent(b.args.Settings, "", "  ")
	if err != nil {
		return pulumi.StringOutput{}, err
	}
	sum := sha256.Sum256(text)
	name := pulumi.String(app + "-" + hex.EncodeToString(sum[:4]))
	metadata := b.metadata(nil)
	metadata.Name = name
	made, err := corev1.NewConfigMap(b.ctx, b.name+"-config", &corev1.ConfigMapArgs{
		Metadata: metadata, Immutable: pulumi.Bool(true), Data: pulumi.ToStringMap(map[string]string{configFile: string(text) + "\n"}),
	}, b.in...)
	if err != nil {
		return pulumi.StringOutput{}, fmt.Errorf("configuration: %w", err)
	}
	return ref.After(name, made), nil
}
