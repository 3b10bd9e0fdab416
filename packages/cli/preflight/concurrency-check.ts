import { GetAccountSettingsCommand } from "@aws-sdk/client-lambda";
import { webhookKinds } from "../../../domain/event/events.ts";
import type { PreflightCheck } from "./account.ts";
import type { Finding } from "./finding.ts";

/** Lambda refuses to reserve them. Source: Lambda developer guide, "Configuring reserved concurrency". */
const alwaysUnreserved = 100;
/** With fewer the functions of one stage wait for each other. */
const enough = 100;

const raise =
  "aws service-quotas request-service-quota-increase --service-code lambda --quota-code L-B99A9384 --desired-value 1000";

export const concurrencyCheck: PreflightCheck = {
  name: "concurrent executions",
  examine: async ({ stage, settings, account }) => {
    const { AccountLimit } = await account.lambda.send(new GetAccountSettingsCommand({}));
    const { ConcurrentExecutions: all = 0, UnreservedConcurrentExecutions: unreserved = 0 } =
      AccountLimit ?? {};
    const { accountConcurrency, production } = settings;
    const findings: Finding[] = [];
    if (accountConcurrency > all) {
      findings.push({
        what: `The account allows ${all} concurrent executions in ${account.region}, and the setting accountConcurrency says ${accountConcurrency}.`,
        why: "Event sources would be given more than there is, and the receivers would find none.",
        fix: `set accountConcurrency to ${all} in stages/${stage}.json, or ask for more: ${raise}`,
      });
    }
    const reserved = webhookKinds.length * (settings.functions.receive.reservedConcurrency ?? 0);
    if (reserved > 0 && unreserved - reserved < alwaysUnreserved) {
      findings.push({
        what: `The stage reserves ${reserved} concurrent executions, and ${unreserved} are left unreserved in the account.`,
        why: `Lambda keeps ${alwaysUnreserved} unreserved and refuses the reservation: the deployment fails and is rolled back.`,
        fix: `leave functions.receive.reservedConcurrency out, or ask for more: ${raise}`,
      });
    }
    if (production && all < enough) {
      findings.push({
        what: `The account has ${all} concurrent executions in ${account.region}, for all of its functions.`,
        why: "A burst of webhooks is answered 503 or 429 in part and comes again later, and any function may have to wait.",
        fix: raise,
      });
    }
    return findings;
  },
};
