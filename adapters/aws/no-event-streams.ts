/**
 * Takes the place of the SDK's event streams in the bundles of functions, none of whose requests has one. The SDK loads
 * them by an import when it needs them, for which esbuild keeps each module of the SDK that they share apart and whole.
 */
export const eventStreamSerdeProvider = () => ({});

/** A client's configuration as it is. */
export const resolveEventStreamSerdeConfig = <Config>(config: Config): Config => config;

export class EventStreamSerde {
  constructor() {
    throw new Error("functions use no event streams");
  }
}
