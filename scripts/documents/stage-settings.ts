import { parseSettings, type Settings } from "../../lib/settings/settings.ts";

/** The stage that documents calculate with: one subscriber and a way to start fetches, as proof/bench/settings.json has; else defaults. */
export const documented = {
  production: false,
  provider: {
    paths: { start: { path: "/api/v0.4/accounts/{account_id}/fetches", body: { endpoints: "{endpoints}" } } },
  },
  startEndpoints: ["income"],
  subscribers: [{ name: "reader" }],
};

export function documentedSettings(): Settings {
  return parseSettings(documented, "scripts/documents/stage-settings.ts");
}

/** The same stage in production, which has a dashboard and somebody who is notified. */
export const documentedInProduction = {
  ...documented,
  production: true,
  provider: { ...documented.provider, baseUrls: { sandbox: "https://api.income-provider.com" } },
  alarms: { emails: ["on-call@example.com"] },
};
