import { jmespathSearch } from "../../../adapters/aws/jmespath-search.ts";
import type { Call } from "../../../adapters/provider/with-token.ts";
import { keptPages } from "../../../adapters/s3/kept-pages.ts";
import { isFields } from "../../../domain/core/parse.ts";
import { pagingStyles } from "../../../domain/fetch/paging-settings.ts";
import { parseProviderSettings } from "../../../domain/fetch/provider-settings.ts";
import { parseReconcileSettings } from "../../../domain/reconcile/reconcile-settings.ts";
import { readListed } from "../../../domain/state/listing.ts";
import { readPages } from "../../../functions/fetch/read-pages.ts";
import { providerLists } from "../../../functions/reconcile/provider-lists.ts";
import { refreshedToken } from "../../../functions/refresh/ask-provider.ts";
import { registeredUrl } from "../../../functions/register/registered-url.ts";
import { parseSettings } from "../../../lib/settings/settings.ts";
import { bucketInMemory } from "../fakes/memory.ts";
import { EventLost, must, type Target } from "../target.ts";
import { failsAsSaidLater } from "./failing.ts";
import { choosing, chosenBy } from "./split.ts";

const maxPages = 20;
const { provider, reconcile } = parseSettings(
  { production: false, provider: { paths: { userAccounts: "/users/{user_id}/accounts" } } },
  "fuzz",
);
const read = parseProviderSettings(provider);
const { readers, ...rest } = parseReconcileSettings(reconcile, { users: "any", accounts: "any" });
const subject = { kind: "account", id: "a" } as const;

/** A byte chooses how lists come in pages; a form feed ends a page's answer. The last one is answered without end. */
async function check(input: Uint8Array): Promise<void> {
  const [by, bytes] = chosenBy(pagingStyles, input);
  const answers = Buffer.from(bytes).toString("utf8").split("\f");
  const settings = { ...read, paging: { ...read.paging, by, maxPages: maxPages } };
  const provide = (reported?: string[]) => answering(answers, reported);

  await failsAsSaidLater(async () => {
    const lists = providerLists(provide(), settings, { readers, ...rest });
    const accounts = (await lists.accountsOf?.("a")) ?? [];
    for (const item of accounts)
      await failsAsSaidLater(async () => readListed(readers.accounts, item, jmespathSearch));
  });
  await failsAsSaidLater(() => registeredUrl(provide(), "/webhooks", "users"));
  await failsAsSaidLater(async () => {
    const call = provide();
    const token = await refreshedToken((_, apiCall) => call(apiCall), "jwt", "/refresh");
    must(token !== "", "an empty token was taken");
  });
  const reported: string[] = [];
  const content = await failsAsSaidLater(() =>
    readPages(
      { subject, endpoint: "income", messageId: "1" },
      { asOf: 1, by: [], known: undefined },
      undefined,
      {
        call: provide(reported),
        provider: settings,
        keptPages: keptPages(bucketInMemory()),
        inTurn: (work) => work(false),
        timeLeft: () => 1_000_000,
      },
    ),
  );
  if (content !== undefined) checkData(Buffer.concat(content.parts).toString("utf8"), reported);
}

/** What is stored is the one answer, or the items of all. */
function checkData(stored: string, answers: readonly string[]): void {
  const [only, second] = answers;
  if (second === undefined) {
    must(stored === only, "the one answer was changed");
    return;
  }
  const items = answers.flatMap((answer) => listIn(JSON.parse(answer)));
  if (JSON.stringify(listIn(JSON.parse(stored))) !== JSON.stringify(items))
    throw new EventLost("items of pages are gone");
}

function listIn(value: unknown): readonly unknown[] {
  const list = isFields(value) ? value[read.paging.items] : value;
  return Array.isArray(list) ? list : [];
}

/** Answers in order, the last one again and again. */
function answering(answers: readonly string[], reported: string[] = []): Call {
  return async () => {
    const text = answers[Math.min(reported.length, answers.length - 1)] ?? "";
    reported.push(text);
    must(reported.length <= maxPages + 1, "a list is read without end");
    return { found: true, text };
  };
}

export const target: Target = {
  promise:
    "an answer is read to its end, or fails with a reason; no list is read for ever, and none of its data is lost",
  seeds: [
    choosing(
      0,
      '{"data":[{"id":"a","created_at":"2026-01-01"}],"next":"2"}\f{"data":[{"id":"b"}],"next":null}',
    ),
    choosing(1, '[{"id":1,"connected":true}]\f[]'),
    choosing(2, '{"data":[{"a":12345678901234567890}],"next":"/next?a=b"}\f{"data":[],"next":""}'),
    choosing(0, '{"token":"a.b.c"}'),
    choosing(0, '{"url":"https://a.example/users"}'),
    choosing(0, '{"data":{"connected":false}}'),
  ],
  words: ["\f", "\\\\", '\\"', '"next":', '"data":[', "null", "\\u0022", "1e400", "__proto__"],
  check,
};
