import { liveDependencies } from "./live.ts";
import { receiver } from "./receiver.ts";

export const handler = receiver("company-accounts", liveDependencies());
