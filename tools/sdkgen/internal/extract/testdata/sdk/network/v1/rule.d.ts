export declare class Rule extends pulumi.CustomResource {
    readonly name: pulumi.Output<string>;
}
export interface RuleArgs {
    direction: pulumi.Input<boolean>;
}
