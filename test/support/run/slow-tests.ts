/**
 * Files of `npm test` that run a whole stack, or take more than ten seconds on two quiet cores, by why each change needs
 * them and no quicker test says the same.
 */
export const slowTests: Readonly<Record<string, string>> = {
  "test/docs/operating.test.ts":
    "runs each command that operators copy from the pages, and compares what it shows",
  "test/e2e/bad-provider.test.ts": "lets a provider answer badly in each way, with the waits of retries",
  "test/e2e/canary.test.ts": "looks for canaries in all that a whole stack logs and stores, code by code",
  "test/e2e/commands/audit.test.ts": "does on a running stack each act that is recorded, up to an erasure",
  "test/e2e/commands/bad-input.test.ts":
    "runs every command on a running stack with wrong ids, nothing to show, and credentials that expire",
  "test/e2e/commands/commands.test.ts":
    "runs commands as programs against a stack, where the process is the point",
  "test/e2e/commands/doctor.test.ts": "breaks a running stack in the ways that doctor is to find",
  "test/e2e/commands/local-forward.test.ts":
    "forwards a running stack's queue with a program that is interrupted",
  "test/e2e/commands/looking-up.test.ts": "follows a running stack with programs that stay up",
  "test/e2e/commands/mapping.test.ts":
    "runs another provider's webhooks through a stack with another mapping",
  "test/e2e/commands/records.test.ts": "shows what a running stack has stored itself",
  "test/e2e/commands/status.test.ts": "shows a running stack as its queues, token and alarms change",
  "test/e2e/commands/token.test.ts": "kills the refresher of a running stack between its steps",
  "test/e2e/console/start-console.test.ts":
    "starts npm start with its console and kills it, to see that the console ends with it",
  "test/e2e/edge.test.ts": "floods the API of a running stack up to its limits",
  "test/e2e/first-hour.test.ts":
    "lets the first hour of a new stage pass, with each schedule in a running stack",
  "test/e2e/new-mapping.test.ts": "deploys a new mapping with messages in flight",
  "test/e2e/start-read-ask.test.ts": "waits for the check of a start and for retries in a running stack",
  "test/functions/erase/eraser.test.ts":
    "erases through real queues of dead letters, hidden while they are read",
  "test/functions/erase/erasure-law-on-engines.test.ts":
    "plays three hundred histories in real engines: that they keep what the model says shows only there",
  "test/functions/erase/erasure-law.test.ts":
    "plays ten thousand histories with the eraser's own code: rarer interleavings are found by their number",
  "test/functions/reconcile/reconciler-lists.test.ts":
    "reads lists of every length and page from a server, page by page",
  "test/packages/local-stack/sources/queue-source.test.ts":
    "waits for visibility timeouts, in whole seconds, as often as a queue delivers",
  "test/packages/local-stack/sources/recursion.test.ts":
    "waits until what ended a loop is visible again, longer than a busy machine works on a message",
  "test/scripts/install.test.ts":
    "installs the package with npm in an empty folder: what a change leaves out of it shows only there",
};
