import * as pulumi from "@pulumi/pulumi";
import * as inputs from "../../types/input";
export declare class Subnet extends pulumi.CustomResource {
    readonly name: pulumi.Output<string>;
    readonly rules: pulumi.Output<outputs.network.v1.RuleResponse[] | undefined>;
    constructor(name: string, args: SubnetArgs, opts?: pulumi.CustomResourceOptions);
}
export interface SubnetArgs {
    policy?: pulumi.Input<string | enums.network.v1.Sku>;
    rules?: pulumi.Input<pulumi.Input<inputs.network.v1.RuleArgs>[]>;
    target?: pulumi.Input<inputs.network.v1.LeftArgs | inputs.network.v1.RightArgs>;
}
