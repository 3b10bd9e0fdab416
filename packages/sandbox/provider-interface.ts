/** The versions of the provider's interface. A sandbox of `0.5` also serves the paths of `0.4`, as the provider does. */
export const providerInterfaces = ["0.4", "0.5"] as const;
export type ProviderInterface = (typeof providerInterfaces)[number];
