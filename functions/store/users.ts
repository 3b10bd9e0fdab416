import { logged } from "../runtime/log.ts";
import { consumer } from "./consumer.ts";
import { liveDependencies } from "./live.ts";

export const handler = logged(consumer(liveDependencies()));
