import type { Environment } from "../environment.ts";
import type { EnvironmentName } from "../provider-interface.ts";

/** Selects the environment of a call. */
export type Choose = (name: EnvironmentName | undefined) => Environment;
