import type { DocumentChanges } from "@income-events/cli/documents/document-changes.ts";
import { tablesOf } from "@income-events/cli/documents/tabular.ts";
import { useState } from "preact/hooks";
import { useLoaded } from "../api.ts";
import { Action } from "../parts/action.tsx";
import { Command, Panel } from "../parts/panel.tsx";
import { JsonText } from "../parts/payload.tsx";
import { Changes } from "./changes.tsx";
import { RecordsTable } from "./records-table.tsx";

/** Which document: whose, and which version of it. */
export type DocumentName = {
  readonly kind: string;
  readonly id: string;
  readonly endpoint: string;
  readonly dates?: string;
  readonly version: string;
};
type Shown = { readonly data: unknown; readonly changes: DocumentChanges | null };

/** One version of a document: masked until somebody asks to see it, as a table and raw, and what changed in it. */
export function DocumentPanels({ of }: { readonly of: DocumentName }) {
  const [revealed, setRevealed] = useState<Shown>();
  const { data, error } = useLoaded<Shown>(`/api/document?${new URLSearchParams(of)}`);
  const shown = revealed ?? data;
  if (shown === undefined) return <Panel title="What it holds" error={error} />;
  const isRevealed = revealed !== undefined;
  return (
    <>
      <Content value={shown.data} isRevealed={isRevealed}>
        {!isRevealed && (
          <Action
            label="Show personal data"
            path="/api/document/reveal"
            body={of}
            isLook
            // The server answers both with the same.
            onDone={({ data: all, changes }) =>
              setRevealed({ data: all, changes: isChanges(changes) ? changes : null })
            }
            says={() => "Shown. The audit trail says so."}
          />
        )}
        <Command line={commandOf(of)} />
      </Content>
      <Changes of={shown.changes} isRevealed={isRevealed} />
    </>
  );
}

function isChanges(value: unknown): value is DocumentChanges {
  return typeof value === "object" && value !== null && "changes" in value;
}

function commandOf({ kind, id, endpoint, dates, version }: DocumentName): string {
  const days = dates === undefined ? "" : ` --dates ${dates}`;
  return `npx income-events documents get ${kind} ${id} ${endpoint}${days} --of-version ${version} --changes`;
}

type ContentProps = {
  readonly value: unknown;
  readonly isRevealed: boolean;
  readonly children: preact.ComponentChildren;
};

function Content({ value, isRevealed, children }: ContentProps) {
  const [isRaw, setRaw] = useState(false);
  const tables = tablesOf(value);
  const hasTable = tables.length > 0;
  const ways = [
    { name: "As a table", raw: false },
    { name: "Raw", raw: true },
  ];
  return (
    <Panel
      title={isRevealed ? "What it holds" : "What it holds, masked"}
      aside={
        hasTable && (
          <div class="ways">
            {ways.map(({ name, raw }) => (
              <button key={name} type="button" aria-pressed={isRaw === raw} onClick={() => setRaw(raw)}>
                {name}
              </button>
            ))}
          </div>
        )
      }
    >
      {isRaw || !hasTable ? (
        <JsonText value={value} label="The document" />
      ) : (
        tables.map((table) => <RecordsTable key={table.path} of={table} />)
      )}
      {children}
    </Panel>
  );
}
