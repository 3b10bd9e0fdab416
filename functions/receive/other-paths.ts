import { logged } from "../runtime/log.ts";
import { liveDependencies } from "./live.ts";
import { otherPaths } from "./paths.ts";
import { receiver } from "./receiver.ts";

/** Prefix of a kind's environment variables. */
const prefixOf = (kind: string) => `${kind.toUpperCase().replaceAll("-", "_")}_`;

export const handler = logged(otherPaths((kind) => receiver(kind, liveDependencies(kind, prefixOf(kind)))));
