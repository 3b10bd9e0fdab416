import type { IncomeEvent } from "../../../domain/event/events.ts";
import { type DocumentRecord, requestFetch } from "../../../domain/fetch/document.ts";
import { writeTask } from "../../../domain/fetch/tasks.ts";
import { consequencesOf } from "../../../domain/message/consequences.ts";
import type { Change } from "../../../domain/state/change.ts";
import { account, eventChange, eventOf } from "../../domain/samples.ts";
import type { ReadingTable } from "./reading-table.ts";

const endpoint = "income";

/** The provider's events of one endpoint, the table's stream, and the relay that follows it. */
export class ReadingStream {
  /** Rises with each event of the provider. */
  data = 0;
  readonly done: number[] = [];
  readonly #table: ReadingTable;
  readonly #send: (task: string) => void;
  readonly #events: IncomeEvent[] = [];
  readonly #receipts = new Map<string, number>();
  readonly #records: Change[] = [];
  #relayed = 0;

  constructor(table: ReadingTable, send: (task: string) => void) {
    this.#table = table;
    this.#send = send;
  }

  get events(): readonly IncomeEvent[] {
    return this.#events;
  }

  get isBehind(): boolean {
    return this.#relayed < this.#records.length;
  }

  get relayed(): number {
    return this.#relayed;
  }

  /** New data and its event: of bytes that come again, or with an id of its own. */
  happen(isUnordered: boolean): void {
    this.data += 1;
    const own = isUnordered ? {} : { eventId: `e-${this.data}` };
    const event = eventOf("endpoint.updated", { endpoint, dataAvailable: true, ...own });
    this.#events.push(event);
    this.receive(event);
  }

  receive(event: IncomeEvent): void {
    const receipts = (this.#receipts.get(event.id) ?? 0) + 1;
    this.#receipts.set(event.id, receipts);
    this.#records.push(eventChange(event, receipts));
  }

  relay(): void {
    const change = this.#records[this.#relayed];
    this.#relayed += 1;
    for (const consequence of change === undefined ? [] : consequencesOf(change, "urn:test")) {
      if (consequence.do === "call") this.#send(writeTask(consequence.task));
      else if (consequence.do === "requestFetch") {
        const { event, receipts } = consequence;
        this.write((known) => requestFetch(known, account, { endpoint }, { event, receipts }));
      }
    }
  }

  /** A batch that failed at a record is handed over again from there on. */
  replay(records: number): void {
    this.#relayed = Math.max(0, this.#relayed - records);
  }

  /** Writes a revision of the document, which the stream announces. */
  write(change: (known: DocumentRecord | undefined) => DocumentRecord | undefined): void {
    const before = this.#table.known;
    const after = change(before);
    if (after === undefined) return;
    this.#records.push({ of: "data", before, after });
    this.#table.known = after;
    this.done.push(after.done);
  }
}
