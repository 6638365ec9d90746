package observability

import (
	_ "embed"
	"strings"

	"github.com/google/uuid"
	insights "github.com/pulumi/pulumi-azure-native-sdk/insights/v2/v20230601"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/alerts"
)

//go:embed workbook.json
var workbookText string

// workbook declares the page of usage and cost in the portal. Its name must be a
// GUID; this one follows from the stack, so that a second run meets the first one's.
// https://learn.microsoft.com/azure/azure-monitor/visualize/workbooks-automate
func (b *builder) workbook(functions []pulumi.Resource) error {
	scope := b.args.Scope
	_, err := insights.NewWorkbook(b.ctx, b.name+"-usage", &insights.WorkbookArgs{
		ResourceName:      pulumi.String(uuid.NewSHA1(uuid.NameSpaceURL, []byte(b.args.Group.Plain+"/usage")).String()),
		ResourceGroupName: b.args.Group.Name,
		Location:          pulumi.String(scope.Location),
		Kind:              pulumi.String("shared"),
		Category:          pulumi.String("workbook"),
		DisplayName:       pulumi.String("OneDoor usage and cost, " + scope.Stack),
		SerializedData:    pulumi.String(alerts.Named(workbookText, scope.Stack)),
		SourceId:          pulumi.String(strings.ToLower(b.args.Logs.Workspace.Plain)), // in lower case, or each refresh shows a change
		Tags:              scope.Tags(component),
	}, b.in, pulumi.DependsOn(functions)) // no value flows from a function to who calls it by name
	return err
}
