import type { Call } from "../../adapters/with-token.ts";
import { type Kind, kinds } from "../../domain/events.ts";
import { permanent } from "../../domain/failures.ts";
import type { WebhookSecret } from "../../domain/webhook-secret.ts";
import type { Log } from "../runtime/log.ts";

export type RegistrarDependencies = {
  readonly call: Call;
  /** The provider's path of each kind's webhook. */
  readonly paths: Readonly<Record<Kind, string>>;
  /** The deployed address under which each kind has its route. */
  readonly webhooksUrl: string;
  readonly secretHeader: string;
  readonly readSecret: () => Promise<WebhookSecret | undefined>;
  readonly log: Log;
};

/** Registers each kind's webhook with the provider: a PUT replaces what was registered before. */
export function registrar(dependencies: RegistrarDependencies): () => Promise<void> {
  return async () => {
    const { call, paths, webhooksUrl, secretHeader, readSecret, log } = dependencies;
    const secret = await readSecret();
    if (secret === undefined) throw permanent("the webhook secret is empty: set one before registering");
    for (const kind of kinds) {
      const url = `${webhooksUrl.replace(/\/$/, "")}/${kind}`;
      const body = { url, method: "POST", headers: { [secretHeader]: secret.current } };
      const answer = await call({ method: "PUT", path: paths[kind], body });
      if (!answer.found)
        throw permanent(`the provider knows no webhook at the path of ${kind}; see provider.paths`);
    }
    log("WEBHOOKS_REGISTERED", { count: kinds.length });
  };
}
