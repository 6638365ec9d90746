module github.com/pulumi/pulumi-azure-native-sdk/monitor/v2

go 1.26.6

require (
	github.com/blang/semver v3.5.1+incompatible
	github.com/pulumi/pulumi-azure-native-sdk/v2 v2.92.3
	github.com/pulumi/pulumi/sdk/v3 v3.276.0
)
