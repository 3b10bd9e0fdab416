/** Public API of the package: the pipeline as a construct and as a stack. */
export {
  IncomeEvents,
  type IncomeEventsProps,
  type PipelineOptions,
  type SettingsFileProps,
} from "./construct/income-events.ts";
export type * from "./construct/props/functions.ts";
export type * from "./construct/props/mapping.ts";
export type * from "./construct/props/provider.ts";
export type * from "./construct/props/reconcile.ts";
export type * from "./construct/props/settings.ts";
export type * from "./construct/props/webhooks.ts";
export { Subscriber } from "./construct/subscriber.ts";
export { IncomeEventsStack } from "./income-events-stack.ts";
export { RecoveryVaultStack, type RecoveryVaultStackProps } from "./recovery-vault-stack.ts";
export { SettingsError } from "./settings/settings-error.ts";
