/**
 * Replaces the SDK's event streams in the bundles of functions, where no request uses them. The SDK imports them
 * dynamically, so esbuild would keep every module that they share with the rest separate and whole.
 */
export const eventStreamSerdeProvider = () => ({});

export const resolveEventStreamSerdeConfig = <Config>(config: Config): Config => config;

export class EventStreamSerde {
  constructor() {
    throw new Error("functions use no event streams");
  }
}
