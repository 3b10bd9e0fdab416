import type { DocumentChanges } from "@income-events/cli/documents/document-get.ts";
import type { DocumentHistory } from "@income-events/cli/documents/document-list.ts";
import { useLoaded } from "../api.ts";
import * as commands from "../commands.ts";
import { countText, number, visible } from "../format.ts";
import { Table } from "../parts/data.tsx";
import { Command, Panel, Time } from "../parts/panel.tsx";
import { JsonText, useMasked } from "../parts/payload.tsx";
import { subjectPath } from "../parts/search.tsx";
import { address, searchWord } from "../route.ts";

type Shown = { readonly data: unknown; readonly changes: DocumentChanges | null };

/**
 * One version of a document, masked until somebody asks to see it, and what changed in it.
 */
export function DocumentPanels({ of }: { readonly of: commands.DocumentName }) {
  const { data: shown, error, isRevealed, control } = useMasked<Shown>("/api/document", of);
  if (shown === undefined) return <Panel title="Data" error={error} />;
  return (
    <>
      <Panel title={isRevealed ? "Data" : "Data, masked"}>
        <JsonText value={shown.data} label="The document" />
        {control}
        <Command line={commands.document(of)} />
      </Panel>
      <Changes of={shown.changes} isRevealed={isRevealed} />
    </>
  );
}

function Changes({ of, isRevealed }: { readonly of: DocumentChanges | null; readonly isRevealed: boolean }) {
  return (
    <Panel title={isRevealed ? "Changes" : "Changes, masked"}>
      {of === null && (
        <p class="empty">
          No previous version is retained. The setting retention.documentVersionsDays retains versions.
        </p>
      )}
      {of?.count === 0 && (
        <p>
          Same values as the version of <Time at={of.observedAt} />, in another order or spacing.
        </p>
      )}
      {of !== null && of.count > 0 && (
        <>
          <p>
            {countText(of.count, "change")} against the version of <Time at={of.observedAt} />
            {of.count > of.changes.length && `; the first ${number(of.changes.length)} are shown`}.
          </p>
          <Table
            label="Table of changes"
            columns={["Path", "Change", ...(isRevealed ? ["Before", "After"] : [])]}
            classes={{ Path: "id" }}
            rows={of.changes.map(({ path, is, before, after }) => [
              path === "" ? "whole document" : visible(path),
              is,
              ...(isRevealed ? [visible(cellText(before)), visible(cellText(after))] : []),
            ])}
          />
        </>
      )}
    </Panel>
  );
}

/** Where a version of a document is seen. */
export function documentPath(of: commands.DocumentName): string {
  return address("/records/document", of);
}

export function DocumentPage() {
  const [dates, version] = [searchWord("dates"), searchWord("version")];
  const whose = { kind: searchWord("kind"), id: searchWord("id") };
  const of = { ...whose, endpoint: searchWord("endpoint"), version, dates: dates || undefined };
  const { data, error } = useLoaded<readonly DocumentHistory[]>(address("/api/documents", whose));
  const listed = data?.find(
    (each) => each.endpoint === of.endpoint && (each.dates ?? "") === dates && each.subject.id === whose.id,
  );
  return (
    <>
      <Panel title={`${of.endpoint}${dates === "" ? "" : ` of ${dates}`}`} error={error}>
        <p>
          <a href={subjectPath(whose)}>
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
              href={documentPath({ ...subject, endpoint, version: each, dates })}
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
