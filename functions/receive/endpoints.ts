import { logged } from "../runtime/log.ts";
import { liveDependencies } from "./live.ts";
import { receiver } from "./receiver.ts";

export const handler = logged(receiver("endpoints", liveDependencies("endpoints")));
