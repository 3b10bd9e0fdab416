import { CommandError } from "../../../../packages/cli/core/command-error.ts";
import { outputsTarget } from "../../../../proof/fuzz/targets/outputs.ts";

/** Looks at how an address begins. */
export const target = outputsTarget({
  checkAddresses: ({ UsersQueueUrl = "" }) => {
    if (!UsersQueueUrl.startsWith("https://sqs.eu-west-1.amazonaws.com"))
      throw new CommandError("usage", "not the stage's");
  },
});
