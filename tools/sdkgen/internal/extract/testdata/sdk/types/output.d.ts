import * as outputs from "../types/output";
export declare namespace network {
    namespace v1 {
        interface RuleResponse {
            priority?: number;
        }
    }
}
