/** Limits of calls to a provider that the test itself starts. */
export const providerLimits = {
  timeouts: { connectSeconds: 1, headersSeconds: 5, bodySeconds: 5 },
  maxResponseBytes: 100_000,
  allowPrivateAddresses: true,
};

/** A rate limiter that never limits. */
export const unlimited = { permit: async () => undefined, gate: () => undefined };
