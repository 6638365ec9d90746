package gateway

import (
	"fmt"

	apimanagement "github.com/pulumi/pulumi-azure-native-sdk/apimanagement/v2/v20240501"
	preview "github.com/pulumi/pulumi-azure-native-sdk/apimanagement/v2/v20240601preview"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/apimpolicy"
	"onedoor/internal/az"
	"onedoor/internal/diagnostics"
	"onedoor/internal/ref"
)

// loggers are the ids of where the API's diagnostics go, once they take them.
type loggers struct{ metrics, logs pulumi.StringOutput }

// The names of the diagnostics, and so of their loggers. Azure takes no others.
const (
	toInsights = "applicationinsights"
	toMonitor  = "azuremonitor"
)

// logs declares the loggers, and sends the gateway's logs to the workspace: each
// call with its subscription, and each model call with its tokens.
// https://learn.microsoft.com/azure/api-management/api-management-howto-llm-logs
func (b *builder) logs() (loggers, error) {
	scope := b.args.Scope
	sends, err := scope.Grant(b.ctx, b.name+"-sends-metrics", az.MetricsPublisher, b.args.Identity, b.args.Logs.Component, b.in)
	if err != nil {
		return loggers{}, err
	}
	metrics, err := apimanagement.NewLogger(b.ctx, b.name+"-"+toInsights, &apimanagement.LoggerArgs{
		LoggerId:          pulumi.String(toInsights),
		LoggerType:        pulumi.String("applicationInsights"),
		ServiceName:       b.service,
		ResourceGroupName: b.args.Group.Name,
		ResourceId:        b.args.Logs.Component.ID,
		Credentials: pulumi.ToSecret(pulumi.StringMap{
			"connectionString": b.args.Insights,
			"identityClientId": b.args.Identity.ClientID,
		}).(pulumi.StringMapOutput),
	}, b.child(sends)...)
	if err != nil {
		return loggers{}, fmt.Errorf("logger %s: %w", toInsights, err)
	}
	monitor, err := apimanagement.NewLogger(b.ctx, b.name+"-"+toMonitor, &apimanagement.LoggerArgs{
		LoggerId:          pulumi.String(toMonitor),
		LoggerType:        pulumi.String("azureMonitor"),
		ServiceName:       b.service,
		ResourceGroupName: b.args.Group.Name,
	}, b.child()...)
	if err != nil {
		return loggers{}, fmt.Errorf("logger %s: %w", toMonitor, err)
	}
	if err := diagnostics.Send(b.ctx, b.name, ref.After(pulumi.String(b.id), b.made), b.args.Logs, diagnostics.Setting{
		Categories: []string{"GatewayLlmLogs", "GatewayLogs"},
		Dedicated:  true, // a table of its own, without which there are no model calls
	}, b.in, pulumi.DeletedWith(b.made)); err != nil {
		return loggers{}, err
	}
	return loggers{
		metrics: ref.After(pulumi.String(b.id+"/loggers/"+toInsights), metrics),
		logs:    ref.After(pulumi.String(b.id+"/loggers/"+toMonitor), monitor),
	}, nil
}

// maxMessage is how much of a prompt or answer is kept, in bytes; more is cut
// into entries of 32 KB, at most 262,144.
const maxMessage = 262144

// diagnose declares the API's diagnostics, after what is given, and returns the
// last of them. No body is logged: that would hold streams back, and show
// prompts. Nor is the key of a caller who sends it in the URL. An API for tenants who agreed keeps what was said with the tokens.
func (b *builder) diagnose(a api, id pulumi.StringOutput, to loggers, after pulumi.Resource) (pulumi.Resource, error) {
	name := b.name + "-" + a.id + "-"
	none := apimanagement.HttpMessageDiagnosticArgs{Body: apimanagement.BodyDiagnosticSettingsArgs{Bytes: pulumi.Int(0)}}
	asked := none
	asked.DataMasking = apimanagement.DataMaskingArgs{QueryParams: apimanagement.DataMaskingEntityArray{
		apimanagement.DataMaskingEntityArgs{Value: pulumi.String(apimpolicy.KeyName), Mode: apimanagement.DataMaskingModeHide},
	}}
	pipeline := apimanagement.PipelineDiagnosticSettingsArgs{Request: asked, Response: none}
	metrics, err := apimanagement.NewApiDiagnostic(b.ctx, name+toInsights, &apimanagement.ApiDiagnosticArgs{
		DiagnosticId:            pulumi.String(toInsights),
		ApiId:                   id,
		ServiceName:             b.service,
		ResourceGroupName:       b.args.Group.Name,
		LoggerId:                to.metrics,
		Metrics:                 pulumi.Bool(true), // without it the token metrics go nowhere
		AlwaysLog:               pulumi.String("allErrors"),
		Sampling:                apimanagement.SamplingSettingsArgs{SamplingType: pulumi.String("fixed"), Percentage: pulumi.Float64(100)},
		Verbosity:               pulumi.String("error"),
		HttpCorrelationProtocol: pulumi.String("W3C"),
		LogClientIp:             pulumi.Bool(false),
		Frontend:                pipeline,
		Backend:                 pipeline,
	}, b.child(after)...)
	if err != nil {
		return nil, err
	}
	noneToo := preview.HttpMessageDiagnosticArgs{Body: preview.BodyDiagnosticSettingsArgs{Bytes: pulumi.Int(0)}}
	askedToo := noneToo
	askedToo.DataMasking = preview.DataMaskingArgs{QueryParams: preview.DataMaskingEntityArray{
		preview.DataMaskingEntityArgs{Value: pulumi.String(apimpolicy.KeyName), Mode: preview.DataMaskingModeHide},
	}}
	pipelineToo := preview.PipelineDiagnosticSettingsArgs{Request: askedToo, Response: noneToo}
	// The one header by which the log knows the tenant of a call with a token.
	named := noneToo
	named.Headers = pulumi.ToStringArray([]string{apimpolicy.TenantHeader})
	tokens := preview.LLMDiagnosticSettingsArgs{Logs: pulumi.String("enabled")}
	if a.logged {
		said := preview.LLMMessageDiagnosticSettingsArgs{Messages: pulumi.String("all"), MaxSizeInBytes: pulumi.Int(maxMessage)}
		tokens.Requests, tokens.Responses = said, said
	}
	// Only from this API version on does Azure take largeLanguageModel.
	return preview.NewApiDiagnostic(b.ctx, name+toMonitor, &preview.ApiDiagnosticArgs{
		DiagnosticId:       pulumi.String(toMonitor),
		ApiId:              id,
		ServiceName:        b.service,
		ResourceGroupName:  b.args.Group.Name,
		LoggerId:           to.logs,
		AlwaysLog:          pulumi.String("allErrors"),
		Sampling:           preview.SamplingSettingsArgs{SamplingType: pulumi.String("fixed"), Percentage: pulumi.Float64(100)},
		Verbosity:          pulumi.String("information"),
		LogClientIp:        pulumi.Bool(false),
		Frontend:           preview.PipelineDiagnosticSettingsArgs{Request: askedToo, Response: named},
		Backend:            pipelineToo,
		LargeLanguageModel: tokens,
	}, b.child(metrics)...)
}
