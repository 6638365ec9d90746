class Subnet extends pulumi.CustomResource {
    constructor(name, args, opts) {
        var _a;
            resourceInputs["policy"] = (_a = (args ? args.policy : undefined)) !== null && _a !== void 0 ? _a : "Disabled";
        const aliasOpts = { aliases: [{ type: "azure-native:network/v0:Subnet" }, { type: "azure-native:network:Subnet" }] };
    }
}
Subnet.__pulumiType = 'azure-native:network/v1:Subnet';
