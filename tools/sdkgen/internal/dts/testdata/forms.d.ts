import * as pulumi from "@pulumi/pulumi";
import * as inputs from "../../types/input";
/**
 * A subnet.
 *
 * @deprecated Use another.
 */
export declare class Subnet extends pulumi.CustomResource {
    /**
     * Get an existing one.
     */
    static get(name: string, id: pulumi.Input<pulumi.ID>, opts?: pulumi.CustomResourceOptions): Subnet;
    /** @internal */
    static readonly __pulumiType = "azure-native:network/v1:Subnet";
    /**
     * Returns true if the given object is an instance.
     */
    static isInstance(obj: any): obj is Subnet;
    readonly addressPrefix: pulumi.Output<string | undefined>;
    readonly name: pulumi.Output<string>;
    constructor(name: string, args: SubnetArgs, opts?: pulumi.CustomResourceOptions);
    method<T>(a: T): { [key: string]: T };
}
export interface SubnetArgs {
    delegations?: pulumi.Input<pulumi.Input<inputs.network.v1.DelegationArgs>[]>;
    tags: pulumi.Input<{
        [key: string]: pulumi.Input<string>;
    }>;
    /**
     * The size.
     * @deprecated Old.
     */
    sku: pulumi.Input<string | enums.network.v1.Sku>;
    "odata.type": pulumi.Input<"A's \"kind\"">;
    lists: (number | true)[][]; // a comment
}
export declare const Sku: {
    readonly Basic: "Basic";
    /** @deprecated Gone. */
    readonly Two: -2;
};
export type Sku = (typeof Sku)[keyof typeof Sku];
export declare const lazy: typeof import("./subnet").lazy;
export declare namespace network {
    namespace v1 {
        interface DelegationArgs {
            name: pulumi.Input<string>;
        }
        /**
         * delegationArgsProvideDefaults sets the defaults.
         */
        function delegationArgsProvideDefaults(val: DelegationArgs): DelegationArgs;
    }
}
export { Subnet as Other };
