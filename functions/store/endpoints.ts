import { consumer } from "./consumer.ts";
import { liveDependencies } from "./live.ts";

export const handler = consumer(liveDependencies());
