import { fromEnv } from "@aws-sdk/credential-provider-env";

/**
 * Replaces the SDK's chain of credential providers in the bundles of functions: Lambda passes credentials only in the
 * environment. They are read once; the SDK would read them for each request.
 */
export const defaultProvider = () => {
  const read = fromEnv();
  let cached: ReturnType<typeof read> | undefined;
  return () => {
    cached ??= read();
    return cached;
  };
};
