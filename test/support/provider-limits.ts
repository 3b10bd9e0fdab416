/** Limits of calls to a provider that the test starts itself. */
export const providerLimits = {
  timeouts: { connectSeconds: 1, headersSeconds: 5, bodySeconds: 5 },
  maxResponseBytes: 100_000,
  allowPrivateAddresses: true,
};

/** A rate that is never used up. */
export const unlimited = { permit: async () => undefined, gate: () => undefined };
