import { fromEnv } from "@aws-sdk/credential-provider-env";

/**
 * Takes the place of the SDK's chain of credential providers in the bundles of functions: Lambda puts a function's
 * credentials into its environment, and nowhere else. They are read once: the SDK would read them for each request.
 */
export const defaultProvider = () => {
  const read = fromEnv();
  let known: ReturnType<typeof read> | undefined;
  return () => {
    known ??= read();
    return known;
  };
};
