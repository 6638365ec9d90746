import * as enums from "../types/enums";
export declare namespace network {
    namespace v1 {
        interface RuleArgs {
            priority?: pulumi.Input<number>;
            weight: pulumi.Input<number>;
            anything?: any;
        }
        interface LeftArgs {
            kind: pulumi.Input<"Left">;
        }
        interface RightArgs {
            kind: pulumi.Input<"Right">;
            labels?: pulumi.Input<{
                [key: string]: pulumi.Input<string>;
            }>;
        }
    }
}
export declare namespace other {
    surprise
}
