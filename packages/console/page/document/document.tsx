import type { DocumentChanges } from "@income-events/cli/documents/document-get.ts";
import type { DocumentHistory } from "@income-events/cli/documents/document-list.ts";
import { useState } from "preact/hooks";
import { useLoaded } from "../api.ts";
import * as commands from "../commands.ts";
import { number, visible } from "../format.ts";
import { Table, Wide } from "../parts/data.tsx";
import { Command, Panel, Time } from "../parts/panel.tsx";
import { JsonText, Reveal } from "../parts/payload.tsx";
import { searchWord } from "../route.ts";

type Shown = { readonly data: unknown; readonly changes: DocumentChanges | null };

/**
 * One version of a document, masked until somebody asks to see it, and what changed in it.
 */
export function DocumentPanels({ of }: { readonly of: commands.DocumentName }) {
  const [revealed, setRevealed] = useState<Shown>();
  const { data, error } = useLoaded<Shown>(`/api/document?${new URLSearchParams(of)}`);
  const shown = revealed ?? data;
  if (shown === undefined) return <Panel title="Data" error={error} />;
  const isRevealed = revealed !== undefined;
  return (
    <>
      <Panel title={isRevealed ? "Data" : "Data, masked"}>
        <JsonText value={shown.data} label="The document" />
        <Reveal
          isRevealed={isRevealed}
          path="/api/document/reveal"
          body={of}
          // The server answers both with the same.
          onRevealed={({ data: all, changes }) =>
            setRevealed({ data: all, changes: isChanges(changes) ? changes : null })
          }
          onHidden={() => setRevealed(undefined)}
        />
        <Command line={commands.document(of)} />
      </Panel>
      <Changes of={shown.changes} isRevealed={isRevealed} />
    </>
  );
}

function isChanges(value: unknown): value is DocumentChanges {
  return typeof value === "object" && value !== null && "changes" in value;
}

function Changes({ of, isRevealed }: { readonly of: DocumentChanges | null; readonly isRevealed: boolean }) {
  return (
    <Panel title={isRevealed ? "Changes" : "Changes, masked"}>
      {of === null ? (
        <p class="empty">
          No previous version is retained. The setting retention.documentVersionsDays retains versions.
        </p>
      ) : (
        <Against of={of} isRevealed={isRevealed} />
      )}
    </Panel>
  );
}

type AgainstProps = { readonly of: DocumentChanges; readonly isRevealed: boolean };

function Against({ of: { observedAt, count, changes }, isRevealed }: AgainstProps) {
  if (count === 0)
    return (
      <p>
        Same values as the version of <Time at={observedAt} />, in another order or spacing.
      </p>
    );
  return (
    <>
      <p>
        {number(count)} {count === 1 ? "change" : "changes"} against the version of <Time at={observedAt} />
        {count > changes.length ? `; the first ${number(changes.length)} are shown` : ""}.
      </p>
      <Wide label="Table of changes">
        <Table
          columns={["Path", "Change", ...(isRevealed ? ["Before", "After"] : [])]}
          classes={{ Path: "id" }}
          rows={changes.map(({ path, is, before, after }) => [
            path === "" ? "whole document" : visible(path),
            is,
            ...(isRevealed ? [visible(cellText(before)), visible(cellText(after))] : []),
          ])}
        />
      </Wide>
    </>
  );
}

/** Where a version of a document is seen. */
export function documentPath(of: commands.DocumentName): string {
  return `/records/document?${new URLSearchParams(of)}`;
}

export function DocumentPage() {
  const [dates, version] = [searchWord("dates"), searchWord("version")];
  const whose = { kind: searchWord("kind"), id: searchWord("id") };
  const of = { ...whose, endpoint: searchWord("endpoint"), version, ...(dates !== "" && { dates }) };
  const { data, error } = useLoaded<{ readonly documents: readonly DocumentHistory[] }>(
    `/api/documents?${new URLSearchParams(whose)}`,
  );
  const listed = data?.documents.find(
    (each) => each.endpoint === of.endpoint && (each.dates ?? "") === dates && each.subject.id === whose.id,
  );
  return (
    <>
      <Panel title={`${of.endpoint}${dates === "" ? "" : ` of ${dates}`}`} error={error}>
        <p>
          <a href={`/records?${new URLSearchParams(whose)}`}>
            {whose.kind} <span class="id">{whose.id}</span>
          </a>
        </p>
        {listed !== undefined && <Versions of={listed} version={version} />}
      </Panel>
      <DocumentPanels of={of} key={JSON.stringify(of)} />
    </>
  );
}

/** The versions of a document, each a link to what it holds. */
export function Versions({ of, version }: { readonly of: DocumentHistory; readonly version?: string }) {
  const { subject, endpoint, dates, isGone, asOf, versions } = of;
  return (
    <>
      <p class="quiet">
        {isGone ? "Removed at the provider" : "Last read"} <Time at={asOf} />
      </p>
      <ol
        class="plain-list"
        aria-label={`Versions of ${endpoint}${dates === undefined ? "" : ` of ${dates}`}`}
      >
        {versions.map(({ version: each, observedAt, supersededAt, bytes }) => (
          <li key={each}>
            <a
              href={documentPath({
                ...subject,
                endpoint,
                version: each,
                ...(dates !== undefined && { dates }),
              })}
              aria-current={each === version ? "page" : undefined}
            >
              <Time at={observedAt} />
            </a>{" "}
            {bytes !== undefined && `${number(bytes)} bytes`}
            {supersededAt === undefined ? (
              " · newest"
            ) : (
              <span class="quiet">
                {" "}
                until <Time at={supersededAt} />
              </span>
            )}
          </li>
        ))}
      </ol>
    </>
  );
}

/** Strings unchanged, other values as JSON. */
function cellText(value: unknown): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}
