import type { Environment } from "../environment.ts";
import type { EnvironmentName } from "../provider-interface.ts";

/** The environment that a call is about. */
export type Choose = (name: EnvironmentName | undefined) => Environment;
