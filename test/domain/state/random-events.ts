import type { IncomeEvent } from "../../../domain/event/events.ts";

export type Receipt = { readonly event: IncomeEvent; readonly receipts: number };
