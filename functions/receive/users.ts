import { liveHandler } from "./live.ts";

export const handler = liveHandler("users");
