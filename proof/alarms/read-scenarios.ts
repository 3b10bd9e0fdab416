import { signedFetch } from "@income-events/local-stack/api/signed-fetch.ts";
import { registerSubscribers } from "@income-events/local-stack/stack/subscriber-callers.ts";
import { type AlarmScenario, nothingToEnd, times } from "./scenario.ts";

export const readsRefused: AlarmScenario = {
  entry: "reads-refused",
  condition: "a subscriber reads what its filter does not let through",
  make: async ({ stack, output }) => {
    const credentials = registerSubscribers(stack).find(({ name }) => name === "limited")?.credentials;
    if (credentials === undefined) throw new Error("The stage has no subscriber limited");
    const url = new URL("v1/users/somebody", output("DocumentsUrl"));
    await times(20, async () => {
      const { status } = await signedFetch(url, { region: stack.region, credentials });
      if (status !== 403) throw new Error(`The read was answered ${status}`);
    });
    return nothingToEnd;
  },
};
