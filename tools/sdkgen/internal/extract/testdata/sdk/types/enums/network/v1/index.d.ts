export declare const Sku: {
    readonly Disabled: "Disabled";
    readonly Odd: "something else";
};
export type Sku = (typeof Sku)[keyof typeof Sku];
