import { parseSettings, SettingsError } from "../../../lib/settings/settings.ts";
import { must, type Target } from "../target.ts";

function check(input: Uint8Array): void {
  const value = parsed(Buffer.from(input).toString("utf8"));
  try {
    const { provider } = parseSettings(value, "fuzz.json");
    must(provider.baseUrls[provider.environment] !== "", "settings without an address were taken");
  } catch (error) {
    must(error instanceof SettingsError, `settings are refused with ${String(error)}`);
    const [first, ...lines] = error.message.split("\n");
    must(first === "Settings in fuzz.json:" && lines.length > 0, "a refusal names no setting");
    for (const line of lines) {
      must(/^ {2}\S.*: \S/.test(line), `a line of a refusal names no setting: ${line}`);
      must(!/[\p{Cc}\p{Zl}\p{Zp}]/u.test(line), "a line of a refusal is broken");
    }
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export const target: Target = {
  promise: "settings are taken, or refused with a line for each setting that is wrong",
  seeds: [
    '{"production":false}',
    '{"production":true,"provider":{"baseUrls":{"production":"https://a.example"},"environment":"production"}}',
    '{"production":false,"provider":{"paths":{"start":{"path":"/a/{account_id}","body":{"e":"{endpoints}"}}},"paging":{"by":"page","pageSize":{"items":3}}}}',
    '{"production":false,"mapping":{"users":{"type":{"header":"ce-type"},"types":{"a":"user.created"},"ids":"any"}}}',
    '{"production":false,"subscribers":[{"name":"a","types":["account.*"],"principals":["123456789012"]}],"retention":{"eventsDays":4}}',
    '{"production":false,"webhooks":{"sourceAddresses":["192.0.2.0/24"]},"divideDurationsBy":60,"functions":{"receive":{"reservedConcurrency":2}}}',
  ],
  words: [
    "__proto__",
    "constructor",
    "null",
    "1e999",
    "-1",
    "https://",
    "{account_id}",
    "toString",
    "provider",
    "fetch",
    "token",
    "encryption",
    "keyArn",
  ],
  looksInto: ["zod"],
  check,
};
