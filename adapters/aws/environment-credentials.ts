import { fromEnv } from "@aws-sdk/credential-provider-env";

/**
 * Takes the place of the SDK's chain of credential providers in the bundles of functions: Lambda puts a function's
 * credentials into its environment, and nowhere else.
 */
export const defaultProvider = () => fromEnv();
