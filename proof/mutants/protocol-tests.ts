/** The test files that hold the protocol, by the part that they test. */

export const model = "test/proof/model/protocol.test.ts";
export const stateTests = [
  "test/domain/state/state.test.ts",
  "test/domain/state/stored-state.test.ts",
  "test/domain/state/state-laws.test.ts",
  "test/domain/state/interleaving-laws.test.ts",
];
export const relayTests = [
  model,
  "test/functions/relay/relay.int.test.ts",
  "test/functions/relay/relay-events.int.test.ts",
  "test/functions/relay/relay-failures.int.test.ts",
];
export const refreshTests = [
  "test/functions/refresh/refresher.int.test.ts",
  "test/functions/refresh/refreshing.int.test.ts",
  "test/functions/refresh/two-refreshers.int.test.ts",
  "test/functions/refresh/refused-token.int.test.ts",
  "test/functions/refresh/refresher-laws.int.test.ts",
];
